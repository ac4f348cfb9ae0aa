#include <megaup/ops/operands.hpp>

#include <cstddef>

namespace megaup::ops {
namespace {

constexpr std::int64_t kTensorAlignment = 64;  // a cache line: no two tensors share one

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

std::int64_t head_columns(const Operation& op, const core::Problem& p, core::Head kind) {
  return core::HeadLayout{p, op.columns}.local_heads(kind) * p.D;
}

std::int64_t matrix_bytes(std::int64_t rows, std::int64_t columns, std::int64_t padding) {
  return columns == 0 ? 0 : aligned(rows * (columns + padding) * core::kElementBytes);
}

std::int64_t set_bytes(const Operation& op, const core::Problem& p, std::int64_t padding) {
  std::int64_t bytes = 0;
  for (int kind = 0; kind < core::kHeadKinds; ++kind)
    bytes += matrix_bytes(p.B * p.S(), head_columns(op, p, static_cast<core::Head>(kind)), padding);
  return bytes;
}

int sets_of(const Operation& op) { return op.kind == Kind::gemm_to_a2a ? Operands::kHeadSets : 1; }

core::Bf16Matrix matrix_at(std::byte* base, std::int64_t rows, std::int64_t columns, std::int64_t padding) {
  return {reinterpret_cast<core::Bf16*>(base), rows, columns, columns + padding};
}

}  // namespace

Operands::Operands(const Operation& op, const core::Problem& problem, comm::Communicator& communicator,
                   std::int64_t padding, int host_threads)
    : op_(&op), problem_(problem), padding_(padding), rank_(communicator.rank()), host_threads_(host_threads) {
  // Decided before any memory is taken, and alike on every rank because the problem is.
  if (auto why = core::refusal(problem)) throw core::Error(core::ErrorKind::usage, *why, rank_);
  const Extent weight = weight_extent(op, problem);
  device_ = communicator.device();
  // Arms of the host want their pages near the core that they run on.
  const int touching = device_ == nullptr ? 1 : host_threads;
  hidden_memory_ = core::Buffer(static_cast<std::size_t>(matrix_bytes(problem.M(), problem.H, padding)), touching);
  weight_memory_ = core::Buffer(static_cast<std::size_t>(matrix_bytes(weight.rows, weight.columns, padding)), touching);
  hidden_ = matrix_at(hidden_memory_.bytes().data(), problem.M(), problem.H, padding);
  weight_ = matrix_at(weight_memory_.bytes().data(), weight.rows, weight.columns, padding);
  const auto heads_bytes = static_cast<std::size_t>(head_sets() * set_bytes(op, problem, padding));
  if (device_ != nullptr) {
    device_hidden_ = core::DeviceBuffer(*device_, hidden_memory_.size());
    device_weight_ = core::DeviceBuffer(*device_, weight_memory_.size());
    private_heads_ = core::Buffer(heads_bytes, touching);
    shared_ = communicator.peer_memory(heads_bytes, 0);
    pin_host_copies(communicator);
  } else if (communicator.any(communicator.no_peer_memory().has_value()))
    private_heads_ = core::Buffer(heads_bytes);
  else
    shared_ = communicator.peer_memory(heads_bytes, 0);
}

HeadTensors Operands::carve(std::byte* base, int set) const {
  base += set * set_bytes(*op_, problem_, padding_);
  HeadTensors heads;
  for (int kind = 0; kind < core::kHeadKinds; ++kind) {
    const std::int64_t columns = head_columns(*op_, problem_, static_cast<core::Head>(kind));
    if (columns == 0) continue;
    const std::int64_t rows = problem_.B * problem_.S();
    heads.tensor[static_cast<std::size_t>(kind)] = matrix_at(base, rows, columns, padding_);
    base += matrix_bytes(rows, columns, padding_);
  }
  return heads;
}

HeadTensors Operands::heads(int set) const {
  return carve(shared_ && device_ == nullptr ? shared_->base(rank_) : private_heads_.bytes().data(), set);
}

core::Bf16Matrix Operands::device_hidden() const {
  return {device_hidden_.as<core::Bf16>(), hidden_.rows, hidden_.columns, hidden_.ld};
}

core::Bf16Matrix Operands::device_weight() const {
  return {device_weight_.as<core::Bf16>(), weight_.rows, weight_.columns, weight_.ld};
}

HeadTensors Operands::device_heads(int rank, int set) const { return carve(shared_->base(rank), set); }

void Operands::pin_host_copies(comm::Communicator& group) {
  std::string mine;
  try {
    for (const core::Buffer* copy : {&hidden_memory_, &weight_memory_, &private_heads_})
      pinned_.emplace_back(*device_, copy->bytes());
  } catch (const core::Error& error) {
    mine = error.what();
  }
  const auto reasons = group.all_gather(std::string_view(mine));
  for (std::size_t rank = 0; rank < reasons.size(); ++rank)
    if (!reasons[rank].empty()) throw comm::GroupError(core::ErrorKind::cell, reasons[rank], static_cast<int>(rank));
}

void Operands::inputs_to_device() {
  if (device_ == nullptr) return;
  device_->copy_in(device_weight_.data(), weight_memory_.bytes());
  if (op_->kind == Kind::a2a_to_gemm)
    device_->copy_in(shared_->base(rank_), private_heads_.bytes());
  else
    device_->copy_in(device_hidden_.data(), hidden_memory_.bytes());
}

void Operands::outputs_from_device(std::optional<int> set) {
  if (device_ == nullptr) return;
  if (op_->kind == Kind::a2a_to_gemm) return device_->copy_out(hidden_memory_.bytes(), device_hidden_.data());
  const std::size_t bytes = set ? heads_bytes() / static_cast<std::size_t>(head_sets()) : heads_bytes();
  const std::size_t first = bytes * static_cast<std::size_t>(set.value_or(0));
  device_->copy_out(private_heads_.bytes().subspan(first, bytes), shared_->base(rank_) + first);
}

void Operands::poison_device_outputs() {
  constexpr std::uint8_t kPoisonByte = 0xff;
  if (op_->kind == Kind::gemm_to_a2a)
    device_->fill(shared_->base(rank_), heads_bytes(), kPoisonByte);
  else
    device_->fill(device_hidden_.data(), hidden_memory_.size(), kPoisonByte);
}

HeadTensors Operands::peer_heads(int rank, int set) const { return carve(shared_->base(rank), set); }

std::int64_t Operands::bytes(const Operation& op, const core::Problem& p) {
  const Extent weight = weight_extent(op, p);
  return matrix_bytes(p.M(), p.H, 0) + matrix_bytes(weight.rows, weight.columns, 0) + sets_of(op) * set_bytes(op, p, 0);
}

}  // namespace megaup::ops
