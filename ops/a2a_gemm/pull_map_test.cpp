#include <megaup/ops/a2a_gemm/pull_map.hpp>

#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/ops/operation.hpp>
#include <megaup/ops/reference.hpp>

using namespace megaup;
using Catch::Matchers::ContainsSubstring;

namespace {

const ops::Operation& operation(core::Columns columns) {
  return *ops::find_operation(columns == core::Columns::qkv ? "qkv_dgrad" : "out_fwd");
}

/// Where column `k` of the weight's K comes from, as the oracle says it.
bool comes_from(const ops::reference::HeadColumn& expected, std::int64_t tensor, std::int64_t rank,
                std::int64_t column) {
  return expected.tensor == tensor && expected.first_rank == rank && expected.column == column;
}

/// Follows every K tile of every shard through the tables, in the order of the kernel, and compares with the oracle's
/// own maps; every column of the weight must be met exactly once.
void check_columns(const core::Problem& problem, core::Columns columns, std::int64_t r, const ops::PullMap& map) {
  const auto expected = ops::reference::head_columns(operation(columns), problem);
  std::vector<int> met(expected.size(), 0);
  for (int shard = 0; shard < map.shards(); ++shard) {
    const bool sums = shard == map.ranks;
    const std::int64_t peer = (r + shard) % problem.P;
    const int first = sums ? map.shard_segments : 0, count = sums ? map.sum_segments : map.shard_segments;
    for (int s = first; s < first + count; ++s) {
      const auto segment = map.segments[static_cast<std::size_t>(s)];
      const std::int64_t shift = sums ? 0 : map.weight_shift[segment.source][static_cast<std::size_t>(peer)];
      for (std::int64_t i = 0; i < segment.count * ops::kPullTileK; ++i) {
        const std::int64_t k = (segment.weight + shift) * ops::kPullTileK + i;
        const std::int64_t column = segment.from * ops::kPullTileK + i;
        ++met[static_cast<std::size_t>(k)];
        const auto& at = expected[static_cast<std::size_t>(k)];
        if (sums)
          CHECK((comes_from(at, 1 + segment.source % 2, segment.source / 2 * map.copies, column) &&
                 at.copies == map.copies));
        else
          CHECK((comes_from(at, segment.source, peer, column) && at.copies == 1));
      }
    }
  }
  CHECK(met == std::vector<int>(expected.size(), 1));
}

void check_rows(const core::Problem& problem, std::int64_t r, const ops::PullMap& map) {
  const auto rows = ops::reference::head_rows(problem)[static_cast<std::size_t>(r)];
  for (std::int64_t m = 0; m < map.rows; m += 32) {
    const std::int64_t tile = m / ops::kPullTileRows;
    const std::int64_t shift = map.tile_shift[static_cast<std::size_t>(tile / map.run_tiles)];
    CHECK(m + shift * ops::kPullTileRows == rows[static_cast<std::size_t>(m)]);
  }
}

}  // namespace

TEST_CASE("the pull tables find every column and row of A where the oracle does") {
  for (const auto format : {core::ActivationFormat::sbhd, core::ActivationFormat::bshd, core::ActivationFormat::thd})
    for (const auto order : {core::SequenceOrder::contiguous, core::SequenceOrder::dual_chunk})
      for (const auto weight : {core::QkvWeight::grouped, core::QkvWeight::concatenated})
        for (const std::int64_t P : {1, 2, 4, 8})
          for (const std::int64_t Hk : {1, 2, 8, 16}) {
            const core::Problem problem{.P = P,
                                        .B = 2,
                                        .s = 256,
                                        .H = 64,
                                        .Hq = 16,
                                        .Hk = Hk,
                                        .D = 64,
                                        .format = format,
                                        .order = order,
                                        .qkv_weight = weight,
                                        .kv_replication = true};
            for (const auto columns : {core::Columns::qkv, core::Columns::query}) {
              REQUIRE_FALSE(ops::pull_refusal(problem, columns));
              for (std::int64_t r = 0; r < P; ++r) {
                const ops::PullMap map = ops::pull_map(problem, columns, r);
                check_columns(problem, columns, r, map);
                check_rows(problem, r, map);
              }
            }
          }
}

TEST_CASE("one rank's part of out_fwd is one segment, and grouped KV heads add two a group") {
  const core::Problem problem{.P = 4, .B = 1, .s = 512, .H = 64, .Hq = 32, .Hk = 8, .D = 128};
  CHECK(ops::pull_map(problem, core::Columns::query, 0).shard_segments == 1);
  CHECK(ops::pull_map(problem, core::Columns::qkv, 0).shard_segments == 6);  // two groups of Q, K and V
}

TEST_CASE("staging holds what is copied, and the sums of replicated heads once") {
  core::Problem problem{.P = 8, .B = 1, .s = 1024, .H = 64, .Hq = 32, .Hk = 8, .D = 128};
  CHECK(ops::pull_staging_bytes(problem, core::Columns::query) == 1024 * 32 * 128 * 2);
  CHECK(ops::pull_staging_bytes(problem, core::Columns::qkv) == 1024 * (32 + 2 * 8) * 128 * 2);
  problem.Hk = 2;
  problem.kv_replication = true;
  CHECK(ops::pull_staging_bytes(problem, core::Columns::qkv) == 1024 * (32 + 2 * 2) * 128 * 2);
  CHECK(ops::pull_peer_words(problem) == 16);
  CHECK(ops::pull_local_words(problem) == 4 + 8 * 9);
}

TEST_CASE("what cannot be pulled is refused with its numbers") {
  const core::Problem fine{.P = 8, .B = 1, .s = 1024, .H = 4096, .Hq = 32, .Hk = 8, .D = 128};
  CHECK_FALSE(ops::pull_refusal(fine, core::Columns::qkv));
  const auto reason = [](core::Problem problem) { return ops::pull_refusal(problem, core::Columns::qkv).value_or(""); };

  auto problem = fine;
  problem.P = 16;
  problem.kv_replication = true;
  CHECK_THAT(reason(problem), ContainsSubstring("16 ranks"));
  problem = fine;
  problem.D = 96;
  CHECK_THAT(reason(problem), ContainsSubstring("D = 96"));
  problem = fine;
  problem.P = 1;
  problem.Hq = problem.Hk = 128;
  CHECK_THAT(reason(problem), ContainsSubstring("384 segments"));
  problem = fine;
  problem.s = 1088;
  CHECK_THAT(reason(problem), ContainsSubstring("runs of 1088"));
  problem = fine;
  problem.order = core::SequenceOrder::dual_chunk;
  problem.s = 128;
  CHECK_THAT(reason(problem), ContainsSubstring("runs of 64"));
  problem = fine;
  problem.B = 65;
  problem.s = 128;
  problem.format = core::ActivationFormat::bshd;
  CHECK_THAT(reason(problem), ContainsSubstring("65 runs"));
  problem = fine;
  problem.s = std::int64_t{1} << 28;
  CHECK_THAT(reason(problem), ContainsSubstring("32-bit"));
}

TEST_CASE("a lost wait is told in words") {
  CHECK_THAT(ops::pull_fault(3), ContainsSubstring("rank 2 did not say in time that its heads are ready"));
  CHECK_THAT(ops::pull_fault(0x101), ContainsSubstring("heads of rank 0 did not land"));
  CHECK_THAT(ops::pull_fault(0x208), ContainsSubstring("rank 7 did not say in time that it has read"));
  CHECK_THAT(ops::pull_fault(0x300), ContainsSubstring("sums of replicated heads"));
}
