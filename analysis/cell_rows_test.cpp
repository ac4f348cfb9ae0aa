#include <megaup/analysis/cell_rows.hpp>

#include <limits>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/analysis/test_support/cells.hpp>

using namespace megaup;
using namespace megaup::analysis;
using namespace megaup::analysis::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t kNative = 0, kFused = 1;

Row only_row(const core::CellRecord& cell) {
  auto rows = cell_rows(blank_record(), cell);
  REQUIRE(rows.size() == 1);
  return rows.front();
}

bool marked(const Row& row, std::string_view mark) {
  for (const Warning& warning : row.warnings)
    if (warning.mark == mark) return true;
  return false;
}

void check_no_delta(const core::CellRecord& cell, const std::string& status, const std::string& reason) {
  const Row row = only_row(cell);
  CHECK_FALSE(row.delta);
  CHECK_FALSE(budget_ms(row));
  CHECK(row.status == status);
  CHECK(row.reason == reason);
}

/// Saves one millisecond in each operation.
core::CellRecord saving_cell() {
  auto cell = blank_cell();
  fill_arm(cell, kNative, 2.0);
  return cell;
}

}  // namespace

TEST_CASE("drift is charged to both arms alike, and the disagreement of the orders is said") {
  auto cell = blank_cell();
  fill(cell, 0, kNative, 0, 100), fill(cell, 0, kNative, 1, 130);
  fill(cell, 0, kFused, 0, 100), fill(cell, 0, kFused, 1, 110);
  const Row row = only_row(cell);
  REQUIRE(row.delta);
  CHECK(row.status == "measured");
  CHECK(row.reason.empty());
  CHECK(row.delta->initial_ms == Approx(0.0).margin(1e-12));
  CHECK(row.delta->reversed_ms == Approx(20.0));
  CHECK(row.delta->delta_ms == Approx(10.0));
  CHECK(marked(row, "order warning"));
}

TEST_CASE("equal orders give no warning") {
  const Row row = only_row(saving_cell());
  CHECK(row.delta->delta_ms == Approx(4.0));
  CHECK(row.delta->baseline_ms == Approx(8.0));
  CHECK(row.delta->candidate_ms == Approx(4.0));
  CHECK(row.warnings.empty());
  CHECK(budget_ms(row) == row.delta->delta_ms);
}

TEST_CASE("a loss keeps its sign and has no budget") {
  auto cell = blank_cell();
  for (const std::size_t block : {0, 1}) fill(cell, 0, kNative, block, 100), fill(cell, 0, kFused, block, 105);
  const Row row = only_row(cell);
  CHECK(row.delta->delta_ms == Approx(-5.0));
  CHECK(row.operations[0].delta_ms == Approx(-5.0));
  CHECK_FALSE(budget_ms(row));
}

TEST_CASE("no difference has no budget") {
  const Row row = only_row(blank_cell());
  CHECK(row.delta->delta_ms == 0.0);
  CHECK_FALSE(budget_ms(row));
}

TEST_CASE("both orders count the same, however the blocks are spread over time") {
  auto cell = blank_cell({"native_packed", "fused"}, {0, 1, 1, 0});
  const double native[4] = {10, 20, 30, 40};
  for (std::size_t block = 0; block < 4; ++block) fill(cell, 2, kNative, block, native[block]);
  const Row row = only_row(cell);
  CHECK(row.delta->initial_ms == Approx(24.0));   // (10 + 40) / 2 - 1
  CHECK(row.delta->reversed_ms == Approx(24.0));  // (20 + 30) / 2 - 1
}

TEST_CASE("a wide block is said, with its place") {
  auto cell = saving_cell();
  for (std::int64_t i = 20; i < 40; ++i)
    for (const std::int64_t rank : {0, 1}) set(cell, 1, kFused, 1, i, rank, 2.0);
  const Row row = only_row(cell);
  REQUIRE(row.delta);
  CHECK(row.operations[1].candidate_ms == Approx(1.25));  // (1 + 1.5) / 2
  REQUIRE(marked(row, "spread warning"));
  CHECK_THAT(row.warnings.back().text, ContainsSubstring("out_fwd, fused, block 1"));
  CHECK_THAT(row.warnings.back().text, ContainsSubstring("67 %"));
}

TEST_CASE("NaN is named by its place, wherever it stands") {
  const std::int64_t at = GENERATE(0, 19, 20, 39);
  auto cell = saving_cell();
  set(cell, 1, kFused, 0, at, 0, kNan);
  check_no_delta(cell, "invalid", "NaN at out_fwd, fused, block 0, observation " + std::to_string(at) + ", rank 0");
}

TEST_CASE("values that cannot be times are named with their number") {
  auto cell = saving_cell();
  set(cell, 2, kNative, 1, 22, 1, 0.0), set(cell, 2, kNative, 1, 23, 0, -1.0), set(cell, 3, kFused, 0, 0, 0, kNan);
  check_no_delta(
      cell, "invalid",
      "times that are not positive at out_dgrad, native_packed, block 1, observation 22, rank 1 (and 2 more values)");
  cell = saving_cell();
  set(cell, 0, kNative, 0, 3, 1, std::numeric_limits<double>::infinity());
  check_no_delta(cell, "invalid", "infinite time at qkv_fwd, native_packed, block 0, observation 3, rank 1");
}

TEST_CASE("the first bad value is the first in the file, not in our order of operations") {
  auto cell = saving_cell();
  cell.operations = {"qkv_dgrad", "out_dgrad", "out_fwd", "qkv_fwd"};
  set(cell, 0, kFused, 1, 5, 0, kNan), set(cell, 3, kNative, 0, 0, 0, kNan);
  check_no_delta(cell, "invalid", "NaN at qkv_dgrad, fused, block 1, observation 5, rank 0 (and 1 more values)");
}

TEST_CASE("a missing order, arm or operation is named") {
  auto cell = saving_cell();
  SECTION("reversed") {
    cell = blank_cell({"native_packed", "fused"}, {0});
    check_no_delta(cell, "incomplete", "reversed missing");
  }
  SECTION("initial") {
    cell = blank_cell({"native_packed", "fused"}, {1});
    check_no_delta(cell, "incomplete", "initial missing");
  }
  SECTION("both orders") {
    cell = blank_cell({"native_packed", "fused"}, {});
    check_no_delta(cell, "incomplete", "initial and reversed missing");
  }
  SECTION("reversed, as blocks that were never taken") {
    for (std::size_t op = 0; op < 4; ++op) fill(cell, op, kNative, 1, kNan), fill(cell, op, kFused, 1, kNan);
    check_no_delta(cell, "incomplete", "reversed missing");
  }
  SECTION("half of a pair") {
    cell = blank_cell({"native_packed", "fused"}, {0, 1, 0});
    check_no_delta(cell, "incomplete", "reversed missing in 1 of 2 pairs");
  }
  SECTION("fused") {
    cell = blank_cell({"native_packed"});
    check_no_delta(cell, "incomplete", "fused missing");
  }
  SECTION("every baseline") {
    cell = blank_cell({"fused", "gemm_only"});
    check_no_delta(cell, "incomplete", "native_packed missing");
  }
  SECTION("both arms") {
    cell = blank_cell({"exchange_only"});
    check_no_delta(cell, "incomplete", "native_packed, fused missing");
  }
  SECTION("everything") {
    cell = blank_cell({"native_packed", "fused"}, {0, 1}, 0);
    check_no_delta(cell, "incomplete", "no times: 4 operations, 2 arms, 0 observations, 2 ranks");
  }
}

TEST_CASE("three operations have differences, but no Delta") {
  auto cell = saving_cell();
  cell.operations.pop_back();
  cell.latency.resize(cell.index(3, 0, 0, 0, 0));
  check_no_delta(cell, "incomplete", "qkv_dgrad missing");
  const Row row = only_row(cell);
  CHECK(row.operations.size() == 3);
  REQUIRE(row.warnings.size() == 1);
  CHECK_THAT(row.warnings[0].text, ContainsSubstring("only 3/4 operations are whole; these sum to +3 ms"));
}

TEST_CASE("an operation that one arm lacks is missing in that arm, and the others keep their numbers") {
  auto cell = saving_cell();
  for (const std::size_t block : {0, 1}) fill(cell, 2, kFused, block, kNan);
  check_no_delta(cell, "incomplete", "out_dgrad missing in fused");
  const Row row = only_row(cell);
  REQUIRE(row.operations.size() == 3);
  CHECK(row.operations[2].operation == "qkv_dgrad");
  CHECK(row.operations[2].delta_ms == Approx(1.0));
  cell = saving_cell();
  fill(cell, 2, kFused, 1, kNan);
  check_no_delta(cell, "incomplete", "out_dgrad missing in fused, block 1 (reversed)");
}

TEST_CASE("stored reasons and faults of the reader are passed on") {
  auto cell = saving_cell();
  cell.status = "failed", cell.reason = "validation: out_fwd rank 1, error 0.4 above 0.01";
  check_no_delta(cell, "failed", "validation: out_fwd rank 1, error 0.4 above 0.01");
  cell.fault = "cells/cell/latency: missing";
  check_no_delta(cell, "failed", "validation: out_fwd rank 1, error 0.4 above 0.01");
  cell = saving_cell();
  cell.status = "refused", cell.reason = "Hk % P";
  check_no_delta(cell, "refused", "Hk % P");
  cell.reason.clear();
  check_no_delta(cell, "refused", "no reason was stored");
  cell = saving_cell();
  cell.fault = "cells/cell/latency: unit 'usec?'";
  check_no_delta(cell, "invalid", "cells/cell/latency: unit 'usec?'");
  cell = saving_cell();
  cell.status = "done";
  check_no_delta(cell, "invalid", "status 'done' is not one of measured, failed, incomplete, refused");
}

TEST_CASE("a cell that contradicts itself is invalid") {
  auto cell = saving_cell();
  cell.latency.pop_back();
  check_no_delta(cell, "invalid", "latency has 1279 values where its axes ask for 1280");
  cell = saving_cell();
  cell.operations[3] = "qkv_fwd";
  check_no_delta(cell, "invalid", "operation 'qkv_fwd' twice");
  cell = saving_cell();
  cell.arms = {"fused", "fused"};
  check_no_delta(cell, "invalid", "arm 'fused' twice");
  cell = saving_cell();
  cell.order = {0, 7};
  check_no_delta(cell, "invalid", "order 7 at block 1 is neither 0 (initial) nor 1 (reversed)");
  cell = saving_cell();
  for (double& time : cell.latency) time = 1e307;
  check_no_delta(cell, "invalid", "the times are too large to be summed");
}

TEST_CASE("operations beyond the four are not summed") {
  auto cell = saving_cell();
  cell.operations.insert(cell.operations.begin(), "sequence");
  cell.latency.insert(cell.latency.begin(), cell.index(1, 0, 0, 0, 0), 5.0);
  CHECK(only_row(cell).delta->delta_ms == Approx(4.0));
}

TEST_CASE("bounds, floor and realised share") {
  auto cell = blank_cell({"native_packed", "fused", "gemm_only", "exchange_only", "reorder_only"});
  fill_arm(cell, 0, 10.0), fill_arm(cell, 1, 7.0), fill_arm(cell, 2, 6.0), fill_arm(cell, 3, 3.0),
      fill_arm(cell, 4, 0.5);
  SECTION("plain") {
    const Row row = only_row(cell);
    CHECK(row.baseline == "native_packed");
    for (const OperationRow& operation : row.operations) {
      CHECK(*operation.gemm_ms == Approx(6.0));
      CHECK(*operation.exchange_ms == Approx(3.0));
      CHECK(*operation.reorder_ms == Approx(0.5));
      CHECK(*operation.floor_ms == Approx(6.0));
      CHECK(*operation.realised == Approx(0.75));
    }
    CHECK(row.warnings.empty());
  }
  SECTION("a floor that is not below the baseline leaves no share") {
    for (const std::size_t block : {0, 1}) fill(cell, 1, 3, block, 10.0);
    const Row row = only_row(cell);
    CHECK(*row.operations[1].floor_ms == Approx(10.0));
    CHECK_FALSE(row.operations[1].realised);
    CHECK(marked(row, "below the floor"));
  }
  SECTION("a slower fused arm realises less than nothing") {
    fill_arm(cell, 1, 12.0);
    CHECK(*only_row(cell).operations[0].realised == Approx(-0.5));
  }
  SECTION("a bound with a hole is left out and said; Delta stays") {
    set(cell, 3, 2, 0, 7, 1, kNan);
    const Row row = only_row(cell);
    CHECK(row.delta->delta_ms == Approx(12.0));
    CHECK_FALSE(row.operations[3].gemm_ms);
    CHECK_FALSE(row.operations[3].floor_ms);
    CHECK(row.operations[3].exchange_ms);
    REQUIRE(row.warnings.size() == 1);
    CHECK_THAT(row.warnings[0].text, ContainsSubstring("gemm_only of qkv_dgrad"));
  }
  SECTION("a bound that was never taken is left out in silence") {
    for (std::size_t op = 0; op < 4; ++op)
      for (const std::size_t block : {0, 1}) fill(cell, op, 4, block, kNan);
    const Row row = only_row(cell);
    CHECK_FALSE(row.operations[0].reorder_ms);
    CHECK(row.operations[0].floor_ms);
    CHECK(row.warnings.empty());
  }
}

TEST_CASE("one row for each baseline") {
  auto cell = blank_cell({"native_packed", "gemm_only", "native_chunked", "fused"});
  fill_arm(cell, 0, 3.0), fill_arm(cell, 2, 2.5);
  set(cell, 0, 0, 0, 0, 0, kNan);
  const auto rows = cell_rows(blank_record(), cell);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].baseline == "native_packed");
  CHECK_FALSE(rows[0].delta);
  CHECK(rows[1].baseline == "native_chunked");
  CHECK(rows[1].candidate == "fused");
  CHECK(rows[1].delta->delta_ms == Approx(6.0));
}

TEST_CASE("the candidate may be another arm") {
  auto cell = blank_cell({"native_packed", "native_chunked"});
  fill_arm(cell, 0, 3.0);
  cell.extra["candidate"] = std::string("native_chunked");
  const Row row = only_row(cell);
  CHECK(row.baseline == "native_packed");
  CHECK(row.candidate == "native_chunked");
  CHECK(row.delta->delta_ms == Approx(8.0));
}

TEST_CASE("identity tells settings from results") {
  const auto record = blank_record();
  const auto cell = saving_cell();
  const auto key = [&](const core::CellRecord& other) { return identity(record, other, only_row(other)); };
  auto other = cell;
  other.id = "another";
  other.extra["peak_bytes_per_rank"] = std::int64_t{5};
  other.extra["harness_overhead_s"] = 1e-7;
  other.extra["identity"] = std::string("abc");
  other.extra["qkv_fwd_gemm_provider"] = std::string("x");
  other.extra["qkv_fwd_fused_kernel"] = std::string("x");
  other.latency[0] *= 2;
  CHECK(key(other) == key(cell));
  for (const char* setting : {"cache", "cadence", "duty", "communicator", "push", "pull"}) {
    other = cell;
    other.extra[setting] = std::string("cold");
    CHECK(key(other) != key(cell));
  }
  for (const char* setting : {"kv_replication", "solo"}) {  // counts are settings as well
    other = cell;
    other.extra[setting] = std::int64_t{7};
    CHECK(key(other) != key(cell));
  }
  other = cell;
  other.qkv_weight = "concatenated";
  CHECK(key(other) != key(cell));
  other = cell;
  other.batch = 4;
  CHECK(key(other) != key(cell));
  auto simulated = record;
  simulated.source = "simulated";
  CHECK(identity(simulated, cell, only_row(cell)) != key(cell));
}
