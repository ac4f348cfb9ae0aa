#include <megaup/ops/gemm_a2a/push_map.hpp>

#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/ops/operation.hpp>
#include <megaup/ops/reference.hpp>

using namespace megaup;
using Catch::Matchers::ContainsSubstring;

namespace {

const ops::Operation& operation(core::Columns columns) {
  return *ops::find_operation(columns == core::Columns::qkv ? "qkv_fwd" : "out_dgrad");
}

/// Follows every head and a row of every 32 through the tables, and compares with the oracle's own maps.
void check_against_reference(const core::Problem& problem, core::Columns columns) {
  const auto expected_columns = ops::reference::head_columns(operation(columns), problem);
  const auto expected_rows = ops::reference::head_rows(problem);
  for (std::int64_t r = 0; r < problem.P; ++r) {
    const ops::PushMap map = ops::push_map(problem, columns, r);
    REQUIRE(map.columns == static_cast<std::int64_t>(expected_columns.size()));
    for (std::int64_t j = 0; j < map.columns; j += problem.D / 2) {
      const auto head = map.heads[static_cast<std::size_t>(j / map.features)];
      const auto& expected = expected_columns[static_cast<std::size_t>(j)];
      CHECK(head.home == expected.first_rank * ops::kPushKinds + expected.tensor);
      CHECK(head.copies == expected.copies);
      CHECK(head.local * map.features + j % map.features == expected.column);
    }
    for (std::int64_t m = 0; m < map.rows; m += 32)
      CHECK(m + map.row_shift[static_cast<std::size_t>(m / map.run_rows)] ==
            expected_rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(m)]);
  }
}

}  // namespace

TEST_CASE("the push tables send every column and row where the oracle does") {
  for (const auto format : {core::ActivationFormat::sbhd, core::ActivationFormat::bshd, core::ActivationFormat::thd})
    for (const auto order : {core::SequenceOrder::contiguous, core::SequenceOrder::dual_chunk})
      for (const auto weight : {core::QkvWeight::grouped, core::QkvWeight::concatenated})
        for (const std::int64_t P : {1, 2, 4, 8})
          for (const std::int64_t Hk : {2, 8, 16}) {
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
            REQUIRE_FALSE(ops::push_refusal(problem, core::Columns::qkv));
            check_against_reference(problem, core::Columns::qkv);
            check_against_reference(problem, core::Columns::query);
          }
}

TEST_CASE("what cannot be pushed is refused with its numbers") {
  const core::Problem fine{.P = 8, .B = 1, .s = 1024, .H = 4096, .Hq = 32, .Hk = 8, .D = 128};
  CHECK_FALSE(ops::push_refusal(fine, core::Columns::qkv));
  const auto reason = [](core::Problem problem) { return ops::push_refusal(problem, core::Columns::qkv).value_or(""); };

  auto problem = fine;
  problem.P = 16;
  problem.kv_replication = true;
  CHECK_THAT(reason(problem), ContainsSubstring("16 ranks"));
  problem = fine;
  problem.D = 96;
  CHECK_THAT(reason(problem), ContainsSubstring("D = 96"));
  problem = fine;
  problem.Hq = 512;
  CHECK_THAT(reason(problem), ContainsSubstring("528 heads"));
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
