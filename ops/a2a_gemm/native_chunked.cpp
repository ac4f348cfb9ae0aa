#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/matrix_sink.hpp>
#include <megaup/ops/matrix_source.hpp>
#include <megaup/ops/row_chunks.hpp>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_native_chunked_arm;

namespace {

/// Chunk i+1 is under way while chunk i is multiplied; two slots.
///
///   chunk 0   pack start ............... finish unpack gemm
///   chunk 1              pack start ............................. finish unpack gemm
class NativeChunked final : public PreparedOperation {
 public:
  NativeChunked(Operands& operands, const Context& context)
      : operands_(operands),
        ranks_(context.communicator.size()),
        gemm_(prepare_gemm(operands, context)),
        chunks_(operands.problem().M(), gemm_->row_step()),
        wide_(operands, chunks_.rows()),
        reorder_(operands.problem(), operands.operation().columns, operands.rank(), context.threads),
        exchange_(prepare_exchange(context, reorder_, chunks_.rows(), kChunkSlots)) {}

  void run() override {
    start(0);
    gemm_->load(operands_.weight());
    MatrixSink c(operands_.hidden());  // [M, H]
    for (int i = 0; i < chunks_.count(); ++i) {
      if (i + 1 < chunks_.count()) start(i + 1);
      const RowRange rows = chunks_[i];
      exchange_->finish(slot(i));
      reorder_.slabs_to_wide(wide_.matrix(), recv_slabs(*exchange_, slot(i)), rows);
      MatrixSource a(wide_.matrix(), rows.first);  // [chunk, W]
      gemm_->multiply(a, rows.first, rows.count, c);
    }
  }

  void poison() override {
    wide_.poison();
    ops::poison(*exchange_, ranks_);
  }

  core::Attributes choices() const override {
    return {{"gemm", gemm_->describe()}, {"chunks", std::int64_t{chunks_.count()}}, {"chunk_rows", chunks_.rows()}};
  }

 private:
  void start(int i) {
    reorder_.heads_to_slabs(send_slabs(*exchange_, slot(i)), operands_.heads(), chunks_[i]);
    exchange_->start(slot(i));
  }
  static int slot(int i) { return i % kChunkSlots; }

  Operands& operands_;
  int ranks_;
  std::unique_ptr<HostGemm> gemm_;
  RowChunks chunks_;
  WideBuffer wide_;
  Reorder reorder_;
  std::unique_ptr<comm::Exchange> exchange_;
};

}  // namespace

constinit const Arm a2a_gemm_native_chunked_arm{
    .name = "native_chunked",
    .doc = "the GEMM in row chunks, each multiplied while the next is exchanged",
    .kind = Kind::a2a_to_gemm,
    .bound = false,
    .infeasible = [](const Operation&, const core::Problem& problem,
                     const Context& context) { return unsound(problem, context); },
    .prepare = [](Operands& operands, const Context& context) -> std::unique_ptr<PreparedOperation> {
      return std::make_unique<NativeChunked>(operands, context);
    },
    .workspace_bytes = chunked_bytes};

}  // namespace megaup::ops
