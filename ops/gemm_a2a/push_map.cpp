#include <megaup/ops/gemm_a2a/push_map.hpp>

#include <limits>

#include <fmt/format.h>

namespace megaup::ops {

core::Reason push_refusal(const core::Problem& problem, core::Columns columns) {
  const core::HeadLayout heads{problem, columns};
  const core::TokenLayout tokens{problem};
  constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
  if (problem.P > PushMap::kMaxRanks)
    return fmt::format("{} ranks: the kernel carries store descriptors for {}", problem.P, PushMap::kMaxRanks);
  if (problem.D % kPushBoxColumns != 0)
    return fmt::format("D = {} is not a multiple of {}: a store box would straddle two heads", problem.D,
                       kPushBoxColumns);
  if (heads.heads() > PushMap::kMaxHeads)
    return fmt::format("{} heads: the kernel's head table holds {}", heads.heads(), PushMap::kMaxHeads);
  if (tokens.run_rows() % kPushBoxRows != 0)
    return fmt::format("destination rows come in runs of {}, which is not a multiple of the tile's {} rows",
                       tokens.run_rows(), kPushBoxRows);
  if (problem.M() / tokens.run_rows() > PushMap::kMaxRuns)
    return fmt::format("{} runs of destination rows: the kernel's row table holds {}", problem.M() / tokens.run_rows(),
                       PushMap::kMaxRuns);
  if (problem.B * problem.S() > kIntMax || heads.width() > kIntMax)
    return fmt::format("{} destination rows or {} columns do not fit the 32-bit coordinates of a bulk tensor store",
                       problem.B * problem.S(), heads.width());
  return {};
}

PushMap push_map(const core::Problem& problem, core::Columns columns, std::int64_t r) {
  const core::HeadLayout layout{problem, columns};
  const core::TokenLayout tokens{problem};
  PushMap map;
  map.ranks = static_cast<std::int32_t>(problem.P);
  map.rank = static_cast<std::int32_t>(r);
  map.rows = static_cast<std::int32_t>(problem.M());
  map.columns = static_cast<std::int32_t>(layout.width());
  map.features = static_cast<std::int32_t>(problem.D);
  map.run_rows = static_cast<std::int32_t>(tokens.run_rows());
  for (std::int64_t j = 0; j < layout.heads(); ++j) {
    const core::HeadId head = layout.at(j);
    map.heads[static_cast<std::size_t>(j)] = {
        .home = static_cast<std::uint8_t>(layout.first_rank(head) * kPushKinds + static_cast<std::int64_t>(head.kind)),
        .copies = static_cast<std::uint8_t>(layout.copies(head.kind)),
        .local = static_cast<std::uint16_t>(layout.local_head(head))};
  }
  for (std::int64_t run = 0; run < problem.M() / tokens.run_rows(); ++run) {
    const std::int64_t m = run * tokens.run_rows();
    map.row_shift[static_cast<std::size_t>(run)] = static_cast<std::int32_t>(tokens.destination_row(r, m) - m);
  }
  return map;
}

}  // namespace megaup::ops
