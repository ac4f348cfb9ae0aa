#include <megaup/analysis/statistics.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/conclusions.hpp>
#include <megaup/analysis/sequential.hpp>
#include <megaup/analysis/statistics_notes.hpp>
#include <megaup/analysis/test_support/cells.hpp>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using namespace megaup::analysis;
using namespace megaup::analysis::test_support;
namespace core = megaup::core;

namespace {

/// Eight blocks whose differences are those of interval_test.cpp (0.31, 0.12, ... ms); the first operation carries them all.
constexpr std::array kDifferences{0.31, 0.12, 0.25, 0.40, 0.18, 0.22, 0.35, 0.09};

core::CellRecord eight_blocks(std::vector<std::string> arms = {"native_packed", "fused"}) {
  auto cell = blank_cell(std::move(arms), {0, 1, 1, 0, 0, 1, 1, 0});
  for (std::size_t block = 0; block < kDifferences.size(); ++block) fill(cell, 0, 1, block, 1 - kDifferences[block]);
  return cell;
}

Row concluded(const core::CellRecord& cell, std::optional<double> file_share = std::nullopt,
              core::Record header = blank_record()) {
  Row row = cell_rows(header, cell).front();
  conclude(row, file_share);
  return row;
}

}  // namespace

TEST_CASE("a row of eight blocks has interval, h_safe and verdict, and its mean is Delta") {
  const Row row = concluded(eight_blocks());
  REQUIRE(row.delta);
  REQUIRE(row.conclusion.interval_ms);
  CHECK_THAT(row.statistics.difference->mean, WithinAbs(row.delta->delta_ms, 1e-12));
  CHECK_THAT(row.delta->delta_ms, WithinAbs(0.24, 1e-12));
  CHECK_THAT(row.conclusion.interval_ms->low, WithinAbs(0.13800456592264534, 1e-9));  // scipy, see interval_test.cpp
  CHECK_THAT(row.conclusion.interval_ms->high, WithinAbs(0.34199543407735467, 1e-9));
  CHECK_THAT(*row.conclusion.h_safe_ms, WithinAbs(0.15900177512030553, 1e-9));
  CHECK(row.statistics.sign_flip_p == 0.0078125);
  CHECK(row.conclusion.verdict->kind == VerdictKind::benefit);
  CHECK_FALSE(row.conclusion.resolution_ms);
}

TEST_CASE("two blocks have no verdict, and the notes say how many are needed") {
  const Row row = concluded(blank_cell());
  CHECK(row.delta);
  CHECK_FALSE(row.conclusion.interval_ms);
  CHECK_FALSE(row.conclusion.verdict);
  CHECK_THAT(statistics_notes({row}).at(0), ContainsSubstring("need 4 blocks (two pairs) and 2 were measured"));
}

TEST_CASE("an arm against itself gives the resolution, of its own cell in ms and of others as a share") {
  // The control differs from the first arm by +-0.01 ms in turn within each order: mean 0, spread sqrt(8 * 1e-4 / 6), half-width
  // 2.4469 * that / sqrt(8) = 0.009990 ms of 4 ms.
  auto cell = eight_blocks({"native_packed", "fused", "control"});
  for (std::size_t block = 0; block < 8; ++block) fill(cell, 1, 2, block, block / 2 % 2 == 0 ? 0.99 : 1.01);
  const Row own = concluded(cell);
  CHECK(cell_rows(blank_record(), cell).size() == 1);  // the control is no baseline
  REQUIRE(own.statistics.control);
  CHECK_THAT(*own.conclusion.resolution_ms, WithinAbs(0.00998953, 1e-6));
  const auto share = coarser(std::nullopt, own);
  CHECK_THAT(*share, WithinAbs(0.00998953 / 4, 1e-6));
  CHECK(coarser(1.0, own) == 1.0);
  const Row other = concluded(eight_blocks(), share);
  CHECK_THAT(*other.conclusion.resolution_ms, WithinAbs(0.00998953, 1e-6));
  CHECK(other.conclusion.verdict->kind == VerdictKind::benefit);
  CHECK(concluded(eight_blocks(), 0.2).conclusion.verdict->kind == VerdictKind::no_difference);  // 0.8 ms
}

TEST_CASE("a row without a Delta is not measured, with its reason") {
  auto cell = eight_blocks();
  set(cell, 2, 1, 3, 5, 0, kNan);
  const Row row = concluded(cell);
  REQUIRE(row.conclusion.verdict);
  CHECK(row.conclusion.verdict->kind == VerdictKind::not_measured);
  CHECK_THAT(row.conclusion.verdict->reason,
             ContainsSubstring("NaN at out_dgrad, fused, block 3, observation 5, rank 0"));
}

TEST_CASE("a simulated row has no interval, however many blocks it has") {
  auto header = blank_record();
  header.source = "simulated";
  const Row row = concluded(eight_blocks(), std::nullopt, header);
  CHECK(row.delta);
  CHECK_FALSE(row.conclusion.interval_ms);
  CHECK(row.conclusion.verdict->kind == VerdictKind::not_measured);
}

TEST_CASE("a run that could stop early has wider intervals") {
  auto cell = eight_blocks();
  cell.extra["stop_looks"] = std::int64_t{4};
  const Row row = concluded(cell);
  CHECK(row.statistics.confidence == 0.9875);
  CHECK_THAT(row.conclusion.interval_ms->high - row.conclusion.interval_ms->low,
             WithinAbs(2 * 3.5212 * 0.04168333, 1e-4));  // t(0.99375, 6)
}

TEST_CASE("trends are per minute where the starts are known, else per block") {
  auto cell = eight_blocks();
  for (std::size_t block = 0; block < 8; ++block) fill(cell, 3, 0, block, 1 + 0.1 * static_cast<double>(block));
  CHECK_FALSE(concluded(cell).statistics.baseline->per_minute);
  CHECK_THAT(concluded(cell).statistics.baseline->slope_ms, WithinAbs(0.1, 1e-9));
  cell.started.resize(4 * 2 * 8);
  for (std::size_t i = 0; i < cell.started.size(); ++i)
    cell.started[i] = 1e9 + 30.0 * static_cast<double>(i % 8);  // two blocks a minute
  CHECK(concluded(cell).statistics.baseline->per_minute);
  CHECK_THAT(concluded(cell).statistics.baseline->slope_ms, WithinAbs(0.2, 1e-6));
}

TEST_CASE("an order effect that noise cannot explain is a warning on the row") {
  auto cell = eight_blocks();
  for (std::size_t block = 0; block < 8; ++block) fill(cell, 1, 1, block, cell.order[block] == 0 ? 0.5 : 1.5);
  const Row row = concluded(cell);
  CHECK(row.conclusion.order_effect->matters);
  REQUIRE(row.warnings.size() == 1);
  CHECK(row.warnings[0].mark == "order warning");
  CHECK(row.conclusion.verdict->kind == VerdictKind::undecided);  // +0.745 and -0.265 ms
  CHECK(concluded(eight_blocks()).warnings.empty());
}

TEST_CASE("the notes say what chance alone would call") {
  std::vector<Row> rows(40, concluded(eight_blocks()));
  bool found = false;
  for (const std::string& note : statistics_notes(rows))
    found = found || (note.find("chance alone would call about 1 a benefit") != std::string::npos &&
                      note.find("40 rows differ from zero after Benjamini and Hochberg") != std::string::npos);
  CHECK(found);
}

TEST_CASE("details: the mean of the ranks, the four against their sequence, outliers") {
  auto cell = blank_cell();
  cell.operations.push_back("sequence");
  cell.latency.assign(cell.index(5, 0, 0, 0, 0), 1e-3);
  for (std::size_t block = 0; block < 2; ++block) {
    fill(cell, 4, 0, block, 3.5);
    for (std::int64_t i = 0; i < 40; ++i) set(cell, 0, 0, block, i, i % 2, 3.0);
    set(cell, 1, 1, block, 7, 0, 50.0);
  }
  const Details details = details_of(cell, "native_packed", "fused", Depth::observations);
  CHECK_THAT(*details.rank_mean_delta_ms, WithinAbs(1.0, 1e-12));
  CHECK_THAT(details.additivity[0]->sum_ms, WithinAbs(6.0, 1e-12));
  CHECK_THAT(details.additivity[0]->sequence_ms, WithinAbs(3.5, 1e-12));
  CHECK(details.outliers[1].severe == 2);
  CHECK(details.outliers[0].severe == 0);
  CHECK(details.maxima_ms.size() == 4 * 2 * 2 * 40);
  CHECK(details.maxima_ms[0] == 3.0F);
  CHECK(details_of(cell, "native_packed", "fused", Depth::ranks).maxima_ms.empty());
}

TEST_CASE("a cell may end when the interval of every row is narrow enough at one of the looks") {
  // Eight blocks are the second of the looks 2, 4, 8 pairs; t(1 - 0.05/6, 6) = 3.28746 in place of 2.44691 makes the half-width 0.137032 ms.
  CHECK_FALSE(may_stop(eight_blocks(), 0.1370, 8));
  CHECK(may_stop(eight_blocks(), 0.1371, 8));
  CHECK(may_stop(eight_blocks(), 1e-9, 4));  // the last look
  auto two = eight_blocks({"native_packed", "fused", "native_pipelined"});
  CHECK(may_stop(two, 0.1371, 8));
  fill(two, 3, 2, 0, 5);  // a second baseline with one slow block
  CHECK_FALSE(may_stop(two, 0.1371, 8));
  set(two, 3, 2, 0, 0, 0, kNan);
  CHECK_FALSE(may_stop(two, 1e9, 8));  // no Delta, so nothing is known
}

TEST_CASE("a cell that could end early has a wider interval, and the notes say why") {
  auto cell = eight_blocks();
  cell.extra[std::string(kStopLooks)] = std::int64_t{3};
  const Row row = concluded(cell);
  CHECK_THAT(row.statistics.confidence, WithinAbs(1 - 0.05 / 3, 1e-15));
  CHECK_THAT(row.conclusion.interval_ms->high - row.conclusion.interval_ms->low, WithinAbs(2 * 0.137032, 1e-6));
  CHECK_THAT(statistics_notes({row}).at(1),
             ContainsSubstring("All rows with an interval could end as soon as Delta was known"));
  CHECK_THAT(statistics_notes({concluded(eight_blocks())}).at(1), !ContainsSubstring("could end"));
}
