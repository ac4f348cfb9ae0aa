#include <megaup/ops/gemm_a2a/spread_order.hpp>

#include <algorithm>
#include <numeric>
#include <span>

namespace megaup::ops {

namespace {

/// How far after this rank the first one is that a column of clusters stores into: 0 for the next rank, P-1 for this one,
/// which also has what lies beyond the matrix.
int distance(const PushMap& map, std::int64_t column, std::int64_t cluster_columns) {
  const std::int64_t end = std::min<std::int64_t>(map.columns, (column + 1) * cluster_columns);
  int nearest = map.ranks - 1;
  for (std::int64_t at = column * cluster_columns; at < end; at += kPushBoxColumns) {
    const PushMap::Head head = map.heads[static_cast<std::size_t>(at / map.features)];
    for (int copy = 0; copy < head.copies; ++copy) {
      const int after = head.home / kPushKinds + copy - map.rank - 1;
      nearest = std::min(nearest, after < 0 ? after + map.ranks : after);
    }
  }
  return nearest;
}

}  // namespace

SpreadOrder spread_order(const PushMap& map, const ClusterGrid& grid, std::int32_t together) {
  SpreadOrder order{.rows = grid.rows, .columns = grid.columns, .together = together};
  std::iota(order.column.begin(), order.column.end(), std::uint16_t{0});
  const auto columns =
      std::span(order.column)
          .first(static_cast<std::size_t>(std::min<std::int32_t>(grid.columns, SpreadOrder::kMaxColumns)));
  const auto after = [&](std::uint16_t column) { return distance(map, column, grid.cluster_columns); };
  std::ranges::stable_sort(columns, {}, after);
  order.away = static_cast<std::int32_t>(
      std::ranges::count_if(columns, [&](std::uint16_t column) { return after(column) < map.ranks - 1; }));
  order.last = std::min(grid.resident, grid.rows * (grid.columns - order.away));
  // Rounded up, so that all of them have had their turn when the last ones come: the error of so many tiles is far below
  // one.
  const auto spread = static_cast<std::uint64_t>(grid.rows * grid.columns - order.last);
  const auto all_away = static_cast<std::uint64_t>(grid.rows * order.away);
  if (spread > 0) order.pace = ((all_away << 32) + spread - 1) / spread;
  return order;
}

}  // namespace megaup::ops
