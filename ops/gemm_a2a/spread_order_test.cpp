#include <megaup/ops/gemm_a2a/spread_order.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <megaup/ops/operation.hpp>
#include <megaup/ops/reference.hpp>

using namespace megaup;

namespace {

/// Per column of the grid, how far after rank r the nearest rank is that has a column of it, by the oracle's own map; P-1:
/// this rank's alone, or beyond the matrix.
std::vector<std::int64_t> nearest_ranks(const core::Problem& problem, const ops::ClusterGrid& grid, std::int64_t r) {
  const auto owners = ops::reference::head_columns(*ops::find_operation("qkv_fwd"), problem);
  std::vector<std::int64_t> nearest(static_cast<std::size_t>(grid.columns), problem.P - 1);
  for (std::size_t j = 0; j < owners.size(); ++j) {
    std::int64_t& column = nearest[j / static_cast<std::size_t>(grid.cluster_columns)];
    column = std::min(column, (owners[j].first_rank - r - 1 + problem.P) % problem.P);
  }
  return nearest;
}

ops::ClusterGrid grid_of(const core::Problem& problem, std::int64_t cluster_columns, std::int32_t rows, int padding) {
  const std::int64_t width = (problem.Hq + 2 * problem.Hk) * problem.D;
  return {.rows = rows,
          .columns = static_cast<std::int32_t>((width + cluster_columns - 1) / cluster_columns) + padding,
          .cluster_columns = cluster_columns,
          .resident = 66};
}

template <class Check>
void for_all(const Check& check) {
  for (const auto weight : {core::QkvWeight::grouped, core::QkvWeight::concatenated})
    for (const std::int64_t P : {1, 2, 4, 8})
      for (const std::int64_t cluster_columns : {128, 192, 256, 384})
        for (const std::int32_t rows : {1, 7, 32})
          for (const int padding : {0, 3})
            for (const std::int32_t together : {1, 2, 4})
              for (std::int64_t r = 0; r < P; r += 3) {
                const core::Problem problem{
                    .P = P, .B = 1, .s = 256, .H = 64, .Hq = 32, .Hk = 8, .D = 128, .qkv_weight = weight};
                const auto grid = grid_of(problem, cluster_columns, rows, padding);
                check(ops::spread_order(ops::push_map(problem, core::Columns::qkv, r), grid, together), grid,
                      nearest_ranks(problem, grid, r), P);
              }
}

}  // namespace

TEST_CASE("a spread order has every tile once") {
  for_all([](const ops::SpreadOrder& order, const ops::ClusterGrid& grid, const auto&, std::int64_t) {
    std::set<std::pair<int, int>> seen;
    for (std::int32_t i = 0; i < grid.rows * grid.columns; ++i) {
      const auto place = order.at(i);
      REQUIRE((place.row >= 0 && place.row < grid.rows && place.column >= 0 && place.column < grid.columns));
      seen.emplace(place.row, place.column);
    }
    CHECK(seen.size() == static_cast<std::size_t>(grid.rows * grid.columns));
  });
}

TEST_CASE("a spread order sends evenly, and ends with a wave that stays") {
  for_all([](const ops::SpreadOrder& order, const ops::ClusterGrid& grid, const auto& nearest, std::int64_t P) {
    const std::int32_t tiles = grid.rows * grid.columns;
    const auto leaves = [&](std::int32_t i) { return nearest[static_cast<std::size_t>(order.at(i).column)] < P - 1; };
    const auto own = static_cast<std::int32_t>(std::ranges::count(nearest, P - 1)) * grid.rows;
    const std::int32_t spread = tiles - std::min(grid.resident, own);
    for (std::int32_t i = spread; i < tiles; ++i) CHECK_FALSE(leaves(i));
    int so_far = 0;  // never a tile ahead of or behind the even share
    for (std::int32_t i = 0; i < spread; ++i) {
      so_far += leaves(i) ? 1 : 0;
      CHECK(std::abs(std::int64_t{so_far} * spread - std::int64_t{i + 1} * (tiles - own)) < spread);
    }
  });
}

TEST_CASE("tiles for peers are along N in bands, the next rank's first in each") {
  for_all([](const ops::SpreadOrder& order, const ops::ClusterGrid& grid, const auto& nearest, std::int64_t P) {
    std::vector<std::pair<int, std::int64_t>> away;  // band and distance of its rank
    for (std::int32_t i = 0; i < grid.rows * grid.columns; ++i) {
      const auto place = order.at(i);
      const std::int64_t distance = nearest[static_cast<std::size_t>(place.column)];
      if (distance < P - 1) away.emplace_back(place.row / order.together, distance);
    }
    CHECK(std::ranges::is_sorted(away));
  });
}

TEST_CASE("a spread order: a replicated head has its turn with the nearest of its ranks") {
  const core::Problem problem{
      .P = 4, .B = 1, .s = 256, .H = 64, .Hq = 8, .Hk = 2, .D = 128, .kv_replication = true};  // heads: 4 q, k, v twice
  const ops::SpreadOrder order =
      ops::spread_order(ops::push_map(problem, core::Columns::qkv, 1),
                        {.rows = 1, .columns = 12, .cluster_columns = 128, .resident = 2}, 1);
  // Of rank 2, then 3 with the heads that 2 has as well before them; then 0, and last 1's own two query heads.
  const int expected[] = {6, 7, 10, 11, 8, 9, 0, 1, 4, 5, 2, 3};
  for (int i = 0; i < 12; ++i) CHECK(order.at(i).column == expected[i]);
}

TEST_CASE("columns beyond the table of a spread order keep their places") {
  const core::Problem problem{.P = 2, .B = 1, .s = 256, .H = 64, .Hq = 4, .Hk = 2, .D = 128};
  const ops::SpreadOrder order = ops::spread_order(
      ops::push_map(problem, core::Columns::qkv, 0),
      {.rows = 1, .columns = ops::SpreadOrder::kMaxColumns + 5, .cluster_columns = 128, .resident = 1}, 1);
  const std::int32_t last = ops::SpreadOrder::kMaxColumns + 4;
  CHECK(order.at(last).column == last);
}
