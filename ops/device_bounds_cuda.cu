#include <megaup/ops/device_native_cuda.cuh>

namespace megaup::ops {
namespace {

/// Waits for nobody: what a part alone has in common.
class Alone : public PreparedOperation {
 public:
  void assume_peers_arrived() override {}
};

class GemmOnly final : public Alone {
 public:
  GemmOnly(Operands& operands, const Context& context)
      : device_(*context.communicator.device()),
        wide_(device_, operands, operands.problem().M()),
        gemm_(CublasLt().prepare(device_gemm(operands, wide_.matrix()), stream_of(device_))) {
    if (operands.operation().kind == Kind::gemm_to_a2a) return;
    // A stands for heads of a launch.
    fill_random(
        device_, reinterpret_cast<std::byte*>(wide_.matrix().data),
        static_cast<std::size_t>(DeviceWide::bytes(operands.operation(), operands.problem(), wide_.matrix().rows)),
        operands.rank());
  }

  void run() override { gemm_->run(stream_of(device_)); }
  core::Attributes choices() const override { return {{"gemm", gemm_->describe()}}; }

 private:
  core::Device& device_;
  DeviceWide wide_;
  std::unique_ptr<CublasLt::Gemm> gemm_;
};

/// The one packed exchange of native_packed.
class ExchangeOnly final : public PreparedOperation {
 public:
  ExchangeOnly(const Operands& operands, const Context& context)
      : device_(*context.communicator.device()),
        exchange_(context.communicator.exchange({static_cast<std::size_t>(
            ops::exchange_bytes(operands.operation(), operands.problem()) / operands.problem().P)})) {
    fill_random(device_, exchange_->send(0),
                exchange_->shape().bytes_per_peer * static_cast<std::size_t>(context.communicator.size()),
                operands.rank());
  }

  void run() override {
    exchange_->start(0);
    exchange_->finish(0);
  }
  void assume_peers_arrived() override { exchange_->assume_peers_arrived(); }
  core::Reason fault() override { return exchange_->fault(); }
  core::Attributes choices() const override { return {{"exchange", std::string(exchange_->describe())}}; }

 private:
  core::Device& device_;
  std::unique_ptr<comm::Exchange> exchange_;
};

/// Pack and unpack of native_packed on buffers of their own: nothing crosses between ranks.
class ReorderOnly final : public Alone {
 public:
  ReorderOnly(Operands& operands, const Context& context)
      : device_(*context.communicator.device()),
        gemm_first_(operands.operation().kind == Kind::gemm_to_a2a),
        rows_{0, operands.problem().M(), operands.problem().M()},
        wide_(device_, operands, rows_.count),
        reorder_(device_, operands, wide_.matrix(), rows_.count),
        send_(device_, static_cast<std::size_t>(operands.problem().P * reorder_.slab_bytes())),
        recv_(device_, send_.size()) {
    for (const core::DeviceBuffer* slabs : {&send_, &recv_})
      fill_random(device_, slabs->data(), slabs->size(), operands.rank());
    if (gemm_first_)
      fill_random(device_, reinterpret_cast<std::byte*>(wide_.matrix().data),
                  static_cast<std::size_t>(DeviceWide::bytes(operands.operation(), operands.problem(), rows_.count)),
                  operands.rank());
  }

  void run() override {
    if (gemm_first_) {
      reorder_.wide_to_slabs(send_.data(), rows_);
      reorder_.slabs_to_heads(recv_.data(), rows_);
    } else {
      reorder_.heads_to_slabs(send_.data(), rows_);
      reorder_.slabs_to_wide(recv_.data(), rows_);
    }
  }

 private:
  core::Device& device_;
  bool gemm_first_;
  RowRange rows_;
  DeviceWide wide_;
  DeviceReorder reorder_;
  core::DeviceBuffer send_, recv_;
};

}  // namespace

std::unique_ptr<PreparedOperation> prepare_device_gemm_only(Operands& operands, const Context& context) {
  return std::make_unique<GemmOnly>(operands, context);
}

std::unique_ptr<PreparedOperation> prepare_device_exchange_only(Operands& operands, const Context& context) {
  return std::make_unique<ExchangeOnly>(operands, context);
}

std::unique_ptr<PreparedOperation> prepare_device_reorder_only(Operands& operands, const Context& context) {
  return std::make_unique<ReorderOnly>(operands, context);
}

std::int64_t device_gemm_only_bytes(const Operation& op, const core::Problem& problem) {
  return CublasLt::kWorkspaceBytes + DeviceWide::bytes(op, problem, problem.M());
}

std::int64_t device_exchange_only_bytes(const Operation& op, const core::Problem& problem) {
  return device_exchange_bytes(problem, core::HeadLayout{problem, op.columns}.slab_width(), problem.M(), 1);
}

std::int64_t device_reorder_only_bytes(const Operation& op, const core::Problem& problem) {
  return DeviceWide::bytes(op, problem, problem.M()) + DeviceReorder::bytes(op, problem) +
         staged_exchange_bytes(op, problem);
}

}  // namespace megaup::ops
