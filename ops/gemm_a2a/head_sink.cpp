#include <megaup/ops/gemm_a2a/head_sink.hpp>

#include <algorithm>
#include <cstring>

#include <megaup/ops/round_store.hpp>

namespace megaup::ops {

HeadSink::HeadSink(const Operands& operands)
    : rows_(destination_rows(operands.problem(), operands.rank())),
      runs_(home_runs({operands.problem(), operands.operation().columns})) {
  for (int set = 0; set < Operands::kHeadSets; ++set)
    for (int peer = 0; peer < operands.problem().P; ++peer)
      peers_[static_cast<std::size_t>(set)].push_back(operands.peer_heads(peer, set));
}

void HeadSink::store(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns, const float* acc,
                     std::int64_t ld) {
  const auto first = std::ranges::upper_bound(runs_, j0, {}, [](const HomeRun& run) { return run.wide + run.columns; });
  for (auto run = first; run != runs_.end() && run->wide < j0 + columns; ++run) {
    const std::int64_t begin = std::max(run->wide, j0);
    const std::int64_t n = std::min(run->wide + run->columns, j0 + columns) - begin;
    const std::int64_t local = run->local + begin - run->wide;
    const auto kind = static_cast<std::size_t>(run->kind);
    const HeadTensors* homes = &peers_[set_][static_cast<std::size_t>(run->rank)];
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t row = rows_[static_cast<std::size_t>(i0 + i)];
      core::Bf16* to = homes[0].tensor[kind].row(row) + local;
      round_store(to, acc + i * ld + begin - j0, n);
      for (int copy = 1; copy < run->copies; ++copy)
        std::memcpy(homes[copy].tensor[kind].row(row) + local, to, static_cast<std::size_t>(n) * sizeof(core::Bf16));
    }
  }
}

}  // namespace megaup::ops
