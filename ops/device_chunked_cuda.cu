#include <megaup/ops/device_native_cuda.cuh>
#include <megaup/ops/row_chunks.hpp>

namespace megaup::ops {
namespace {

/// Rows of a chunk are whole tiles of the GEMM: no tile of cuBLASLt is longer.
constexpr std::int64_t kRowStep = 256;

/// Two slots, so that chunk i+1 can be packed before chunk i has arrived. In the stream of the device:
///
///   gemm_to_a2a   gemm0 pack0 start0 | gemm1 pack1 start1 finish0 unpack0 | gemm2 ...    exchange 0 beside gemm1
///   a2a_to_gemm   pack0 start0 pack1 start1 finish0 unpack0 gemm0 | pack2 start2 ...      exchange 1 beside gemm0
class DeviceChunked final : public PreparedOperation {
 public:
  DeviceChunked(Operands& operands, const Context& context, comm::Transport transport)
      : device_(*context.communicator.device()),
        ranks_(context.communicator.size()),
        rank_(operands.rank()),
        gemm_first_(operands.operation().kind == Kind::gemm_to_a2a),
        chunks_(operands.problem().M(), kRowStep),
        wide_(device_, operands, chunks_.rows()),
        reorder_(device_, operands, wide_.matrix(), chunks_.rows()) {
    const CublasLt library;
    for (int i = 0; i < chunks_.count(); ++i) {
      const RowRange rows = chunks_[i];
      const core::Bf16Matrix wide = wide_.matrix().window(0, rows.count, 0, wide_.matrix().columns);
      gemms_.push_back(library.prepare(device_gemm(operands, wide, rows.first), stream_of(device_)));
    }
    exchange_ = context.communicator.exchange(
        {static_cast<std::size_t>(reorder_.slab_bytes()), kChunkSlots, transport});  // after the GEMMs were launched
  }

  void run() override {
    if (gemm_first_)
      run_gemm_first();
    else
      run_exchange_first();
  }

  void poison() override {
    wide_.poison(device_);
    poison_on_device(*exchange_, device_, ranks_);
  }

  void assume_peers_arrived() override { assume_peers_sent(*exchange_, device_, ranks_, rank_); }
  core::Reason fault() override { return exchange_->fault(); }

  core::Attributes choices() const override {
    return {{"gemm", gemms_.front()->describe()},
            {"exchange", std::string(exchange_->describe())},
            {"chunks", std::int64_t{chunks_.count()}},
            {"chunk_rows", chunks_.rows()}};
  }

 private:
  static int slot(int i) { return i % kChunkSlots; }
  void gemm(int i) { gemms_[static_cast<std::size_t>(i)]->run(stream_of(device_)); }

  void run_gemm_first() {
    const auto finish = [this](int i) {
      exchange_->finish(slot(i));
      reorder_.slabs_to_heads(exchange_->recv(slot(i)), chunks_[i]);
    };
    for (int i = 0; i < chunks_.count(); ++i) {
      gemm(i);
      reorder_.wide_to_slabs(exchange_->send(slot(i)), chunks_[i]);
      exchange_->start(slot(i));
      if (i > 0) finish(i - 1);
    }
    finish(chunks_.count() - 1);
  }

  void run_exchange_first() {
    const auto start = [this](int i) {
      reorder_.heads_to_slabs(exchange_->send(slot(i)), chunks_[i]);
      exchange_->start(slot(i));
    };
    start(0);
    for (int i = 0; i < chunks_.count(); ++i) {
      if (i + 1 < chunks_.count()) start(i + 1);
      exchange_->finish(slot(i));
      reorder_.slabs_to_wide(exchange_->recv(slot(i)), chunks_[i]);
      gemm(i);
    }
  }

  core::Device& device_;
  int ranks_, rank_;
  bool gemm_first_;
  RowChunks chunks_;
  DeviceWide wide_;
  DeviceReorder reorder_;
  std::unique_ptr<comm::Exchange> exchange_;
  std::vector<std::unique_ptr<CublasLt::Gemm>> gemms_;
};

}  // namespace

std::unique_ptr<PreparedOperation> prepare_device_chunked(Operands& operands, const Context& context,
                                                          comm::Transport transport) {
  return std::make_unique<DeviceChunked>(operands, context, transport);
}

std::int64_t device_chunked_bytes(const Operation& op, const core::Problem& problem) {
  const std::int64_t rows = RowChunks(problem.M(), kRowStep).rows();
  const std::int64_t slab = core::HeadLayout{problem, op.columns}.slab_width();
  return CublasLt::kWorkspaceBytes + DeviceWide::bytes(op, problem, rows) + DeviceReorder::bytes(op, problem) +
         device_exchange_bytes(problem, slab, rows, kChunkSlots);
}

}  // namespace megaup::ops
