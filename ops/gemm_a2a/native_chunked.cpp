#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/matrix_sink.hpp>
#include <megaup/ops/matrix_source.hpp>
#include <megaup/ops/row_chunks.hpp>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_native_chunked_arm;

namespace {

/// Chunk i is under way while chunk i+1 is multiplied; two slots, so that chunk i+1 can be packed before chunk i has
/// arrived.
///
///   chunk 0   gemm pack start ............... finish unpack
///   chunk 1                   gemm pack start ............... finish unpack
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
    MatrixSource x(operands_.hidden());  // [M, H]
    gemm_->load(operands_.weight());
    for (int i = 0; i < chunks_.count(); ++i) {
      const RowRange rows = chunks_[i];
      MatrixSink y(wide_.matrix(), rows.first);  // [chunk, W]
      gemm_->multiply(x, rows.first, rows.count, y);
      reorder_.wide_to_slabs(send_slabs(*exchange_, slot(i)), wide_.matrix(), rows);
      exchange_->start(slot(i));
      if (i > 0) finish(i - 1);
    }
    finish(chunks_.count() - 1);
  }

  void poison() override {
    wide_.poison();
    ops::poison(*exchange_, ranks_);
  }

  core::Attributes choices() const override {
    return {{"gemm", gemm_->describe()}, {"chunks", std::int64_t{chunks_.count()}}, {"chunk_rows", chunks_.rows()}};
  }

 private:
  void finish(int i) {
    exchange_->finish(slot(i));
    reorder_.slabs_to_heads(operands_.heads(), recv_slabs(*exchange_, slot(i)), chunks_[i]);
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

constinit const Arm gemm_a2a_native_chunked_arm{
    .name = "native_chunked",
    .doc = "the GEMM in row chunks, each exchanged while the next is multiplied",
    .kind = Kind::gemm_to_a2a,
    .bound = false,
    .infeasible = [](const Operation&, const core::Problem& problem,
                     const Context& context) { return unsound(problem, context); },
    .prepare = [](Operands& operands, const Context& context) -> std::unique_ptr<PreparedOperation> {
      return std::make_unique<NativeChunked>(operands, context);
    },
    .workspace_bytes = chunked_bytes};

}  // namespace megaup::ops
