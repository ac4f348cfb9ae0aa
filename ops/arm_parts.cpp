#include <megaup/ops/arm_parts.hpp>

#include <algorithm>
#include <array>

namespace megaup::ops {
namespace {

constexpr std::byte kPoison{0xFF};

/// The span given, or one shard of all columns (kept in `whole`).
std::span<const std::int64_t> shards_or_whole(std::span<const std::int64_t> shards, const GemmShape& shape,
                                              std::array<std::int64_t, 1>& whole) {
  whole[0] = shape.k;
  return shards.empty() ? std::span<const std::int64_t>(whole) : shards;
}

}  // namespace

std::unique_ptr<HostGemm> prepare_gemm(const Operands& operands, const Context& context,
                                       std::span<const std::int64_t> shard_columns) {
  const std::string provider = choose_gemm_provider(operands.operation(), operands.problem(), context);
  const GemmShape shape = gemm_shape(operands.operation(), operands.problem());
  std::array<std::int64_t, 1> whole;
  return prepare_host_gemm(provider, shape, shards_or_whole(shard_columns, shape, whole), context.threads);
}

std::int64_t gemm_bytes(const Operation& op, const core::Problem& problem, std::string_view provider,
                        std::span<const std::int64_t> shard_columns) {
  const GemmShape shape = gemm_shape(op, problem);
  std::array<std::int64_t, 1> whole;
  const auto shards = shards_or_whole(shard_columns, shape, whole);
  std::int64_t most = 0;
  for (const GemmProvider* candidate : gemm_providers())
    if (provider == "auto" || provider == candidate->name)
      most = std::max(most, candidate->workspace_bytes(shape, shards));
  return most;
}

std::int64_t exchange_memory(const core::Problem& problem, std::int64_t slab_columns, std::int64_t rows, int slots) {
  return 2 * slots * problem.P * rows * slab_columns * core::kElementBytes;
}

std::unique_ptr<comm::Exchange> prepare_exchange(const Context& context, const Reorder& reorder, std::int64_t rows,
                                                 int slots) {
  return context.communicator.exchange({static_cast<std::size_t>(reorder.slab_bytes(rows)), slots});
}

void poison(comm::Exchange& exchange, int ranks) {
  const std::size_t bytes = exchange.shape().bytes_per_peer * static_cast<std::size_t>(ranks);
  for (int slot = 0; slot < exchange.shape().slots; ++slot) {
    std::fill_n(exchange.send(slot), bytes, kPoison);
    exchange.start(slot);
    exchange.finish(slot);
  }
}

WideBuffer::WideBuffer(const Operands& operands, std::int64_t rows) {
  const Operation& op = operands.operation();
  const std::int64_t W = core::HeadLayout{operands.problem(), op.columns}.width();
  memory_ = core::Buffer(static_cast<std::size_t>(bytes(op, operands.problem(), rows)));
  matrix_ = {memory_.as<core::Bf16>(), rows, W, W};
}

void WideBuffer::poison() { std::ranges::fill(memory_.bytes(), kPoison); }

std::int64_t WideBuffer::bytes(const Operation& op, const core::Problem& problem, std::int64_t rows) {
  return rows * core::HeadLayout{problem, op.columns}.width() * core::kElementBytes;
}

}  // namespace megaup::ops
