#include <megaup/ops/device_native_cuda.cuh>

namespace megaup::ops {
namespace {

/// The exchange of one part with its reorders.
struct Part {
  DeviceReorder reorder;
  std::unique_ptr<comm::Exchange> exchange;

  std::byte* send() const { return exchange->send(0); }
  const std::byte* recv() const { return exchange->recv(0); }
};

class DeviceNative final : public PreparedOperation {
 public:
  DeviceNative(Operands& operands, const Context& context, const std::vector<OnlyKind>& parts,
               comm::Transport transport)
      : device_(*context.communicator.device()),
        ranks_(context.communicator.size()),
        rank_(operands.rank()),
        gemm_first_(operands.operation().kind == Kind::gemm_to_a2a),
        rows_{0, operands.problem().M(), operands.problem().M()},
        wide_(device_, operands, rows_.count),
        gemm_(CublasLt().prepare(device_gemm(operands, wide_.matrix()), stream_of(device_))) {  // before the exchanges
    for (const OnlyKind only : parts) {
      DeviceReorder reorder(device_, operands, wide_.matrix(), rows_.count, only);
      const auto bytes = static_cast<std::size_t>(reorder.slab_bytes());
      parts_.push_back({std::move(reorder), context.communicator.exchange({bytes, 1, transport})});
    }
  }

  void run() override {
    if (gemm_first_) gemm_->run(stream_of(device_));
    for (std::size_t i = 0; i <= parts_.size(); ++i) {  // part i is packed while part i-1 is under way
      if (i < parts_.size()) start(parts_[i]);
      if (i > 0) finish(parts_[i - 1]);
    }
    if (!gemm_first_) gemm_->run(stream_of(device_));
  }

  void poison() override {
    wide_.poison(device_);
    for (Part& part : parts_) poison_on_device(*part.exchange, device_, ranks_);
  }

  void assume_peers_arrived() override {
    for (Part& part : parts_) assume_peers_sent(*part.exchange, device_, ranks_, rank_);
  }

  core::Reason fault() override {
    for (Part& part : parts_)
      if (auto why = part.exchange->fault()) return why;
    return {};
  }

  core::Attributes choices() const override {
    return {{"gemm", gemm_->describe()},
            {"exchange", std::string(parts_.front().exchange->describe())},
            {"exchanges", static_cast<std::int64_t>(parts_.size())}};
  }

 private:
  void start(Part& part) {
    if (gemm_first_)
      part.reorder.wide_to_slabs(part.send(), rows_);
    else
      part.reorder.heads_to_slabs(part.send(), rows_);
    part.exchange->start(0);
  }
  void finish(Part& part) {
    part.exchange->finish(0);
    if (gemm_first_)
      part.reorder.slabs_to_heads(part.recv(), rows_);
    else
      part.reorder.slabs_to_wide(part.recv(), rows_);
  }

  core::Device& device_;
  int ranks_, rank_;
  bool gemm_first_;
  RowRange rows_;
  DeviceWide wide_;
  std::unique_ptr<CublasLt::Gemm> gemm_;
  std::vector<Part> parts_;
};

}  // namespace

LtGemm device_gemm(const Operands& operands, core::Bf16Matrix wide, std::int64_t first) {
  const Operation& op = operands.operation();
  const core::Bf16Matrix hidden = operands.device_hidden().window(first, wide.rows, 0, operands.problem().H);
  const bool gemm_first = op.kind == Kind::gemm_to_a2a;
  return {.a = gemm_first ? hidden : wide,
          .b = operands.device_weight(),
          .c = gemm_first ? wide : hidden,
          .weight_transposed = op.weight_transposed};
}

std::unique_ptr<PreparedOperation> prepare_device_native(Operands& operands, const Context& context,
                                                         const std::vector<OnlyKind>& parts,
                                                         comm::Transport transport) {
  return std::make_unique<DeviceNative>(operands, context, parts, transport);
}

std::int64_t device_native_bytes(const Operation& op, const core::Problem& problem,
                                 const std::vector<OnlyKind>& parts) {
  std::int64_t bytes = CublasLt::kWorkspaceBytes + DeviceWide::bytes(op, problem, problem.M());
  for (const OnlyKind only : parts)
    bytes += DeviceReorder::bytes(op, problem, only) +
             device_exchange_bytes(problem, slab_columns({problem, op.columns}, only), problem.M(), 1);
  return bytes;
}

}  // namespace megaup::ops
