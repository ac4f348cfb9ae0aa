#include <megaup/ops/a2a_gemm/pull_cursor.hpp>

#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <megaup/ops/operation.hpp>
#include <megaup/ops/reference.hpp>

using namespace megaup;

namespace {

constexpr core::Problem kProblem{.P = 4, .B = 1, .s = 512, .H = 64, .Hq = 16, .Hk = 8, .D = 128};

/// One K tile as the oracle sees it: every column of the weight's tile lies in the tensor, on the rank and in the column
/// that the cursor says. Where a replicated head is, the oracle names the first rank that holds it and how many do.
void check_step(const ops::PullCursor& at, const ops::PullMap& map,
                const std::vector<ops::reference::HeadColumn>& expected) {
  const bool sums = at.tensor() == ops::PullCursor::kSums;
  for (std::int64_t i = 0; i < ops::kPullTileK; ++i) {
    const auto& column = expected[static_cast<std::size_t>(at.weight() * ops::kPullTileK + i)];
    CHECK(column.column == at.column() * ops::kPullTileK + i);
    CHECK(column.copies == (sums ? map.copies : 1));
    if (sums) {
      CHECK(column.tensor == 1 + at.slab() % 2);
      CHECK(column.first_rank == at.slab() / 2 * map.copies);
    } else {
      CHECK(column.tensor == at.tensor() % ops::kPullKinds);
      CHECK(column.first_rank == (at.own() ? map.rank : at.slab()));
      CHECK(at.own() == (column.first_rank == map.rank));
    }
  }
}

/// Goes through one tile of C; which K tiles of the weight were met, and the ranks whose shards were opened, in order.
struct Walk {
  std::vector<int> met;
  std::vector<std::int64_t> opened;
};

Walk walk(ops::PullCursor& at, const ops::PullMap& map, const std::vector<ops::reference::HeadColumn>& expected) {
  Walk out{.met = std::vector<int>(expected.size() / ops::kPullTileK, 0)};
  for (at.begin(map); !at.ended(map); at.next(map)) {
    check_step(at, map, expected);
    ++out.met[static_cast<std::size_t>(at.weight())];
    if (!at.opens_shard()) continue;
    CHECK(at.shard() == static_cast<int>(out.opened.size()));
    out.opened.push_back(at.tensor() == ops::PullCursor::kSums ? map.ranks : at.own() ? map.rank : at.slab());
  }
  return out;
}

}  // namespace

TEST_CASE("a cursor meets every K tile of a pull once, where the oracle has it") {
  for (const auto weight : {core::QkvWeight::grouped, core::QkvWeight::concatenated})
    for (const std::int64_t P : {1, 2, 4, 8})
      for (const std::int64_t Hk : {1, 2, 8, 16})
        for (const char* name : {"out_fwd", "qkv_dgrad"})
          for (const auto order : {ops::ShardOrder::own_first, ops::ShardOrder::rank_zero_first}) {
            core::Problem problem = kProblem;
            problem.P = P;
            problem.Hk = Hk;
            problem.qkv_weight = weight;
            problem.kv_replication = true;
            const ops::Operation& operation = *ops::find_operation(name);
            const auto expected = ops::reference::head_columns(operation, problem);
            const ops::PullMap map = ops::pull_map(problem, operation.columns, P - 1, order);
            ops::PullCursor cursor;
            CHECK(cursor.ended(map));
            for (int tile = 0; tile < 2; ++tile) {  // the second begins as the first did
              const Walk met = walk(cursor, map, expected);
              CHECK(met.met == std::vector<int>(met.met.size(), 1));
              CHECK(static_cast<int>(met.opened.size()) == map.shards());
            }
          }
}

TEST_CASE("a cursor opens the own shard first, then those of the next ranks, and the sums last") {
  core::Problem problem = kProblem;
  problem.Hk = 2;
  problem.kv_replication = true;
  const auto opened = [&](std::int64_t rank, ops::ShardOrder order) {
    const ops::Operation& operation = *ops::find_operation("qkv_dgrad");
    ops::PullCursor cursor;
    return walk(cursor, ops::pull_map(problem, operation.columns, rank, order),
                ops::reference::head_columns(operation, problem))
        .opened;
  };
  CHECK(opened(2, ops::ShardOrder::own_first) == std::vector<std::int64_t>{2, 3, 0, 1, 4});
  CHECK(opened(2, ops::ShardOrder::rank_zero_first) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}
