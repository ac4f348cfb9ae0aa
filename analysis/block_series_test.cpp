#include <megaup/analysis/block_series.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <megaup/analysis/outliers.hpp>
#include <megaup/analysis/row.hpp>
#include <megaup/analysis/stragglers.hpp>
#include <megaup/analysis/test_support/cells.hpp>

using Catch::Matchers::WithinAbs;
using namespace megaup::analysis;
using namespace megaup::analysis::test_support;

TEST_CASE("a block's time is the sum of its operations' medians, block by block") {
  auto cell = blank_cell({"native_packed", "fused"}, {0, 1, 1, 0});
  for (std::size_t block = 0; block < 4; ++block) fill(cell, 2, 0, block, 5.0 + static_cast<double>(block));
  const auto times = block_times_ms(cell, "native_packed", kOperations, AcrossRanks::maximum);
  REQUIRE(times);
  for (std::size_t block = 0; block < 4; ++block)
    CHECK_THAT((*times)[block], WithinAbs(8.0 + static_cast<double>(block), 1e-12));
  CHECK_FALSE(block_times_ms(cell, "control", kOperations, AcrossRanks::maximum));
  set(cell, 3, 1, 2, 17, 1, kNan);
  CHECK_FALSE(block_times_ms(cell, "fused", kOperations, AcrossRanks::maximum));
  CHECK_FALSE(block_times_ms(cell, "fused", kOperations, AcrossRanks::mean));
}

TEST_CASE("ranks that take turns in being slow show in the maximum, half of it in the mean") {
  auto cell = blank_cell();
  for (std::int64_t i = 0; i < 40; ++i) set(cell, 0, 0, 0, i, i % 2, 3.0);  // ranks 3, 1, 3, 1, ...: maximum 3, mean 2
  CHECK_THAT((*block_times_ms(cell, "native_packed", kOperations, AcrossRanks::maximum))[0], WithinAbs(6.0, 1e-12));
  CHECK_THAT((*block_times_ms(cell, "native_packed", kOperations, AcrossRanks::mean))[0], WithinAbs(5.0, 1e-12));
}

TEST_CASE("a block starts at the mean of its operations' starts, and unknown starts are not made up") {
  auto cell = blank_cell();
  CHECK_FALSE(block_starts(cell, "fused", kOperations));
  cell.started.assign(4 * 2 * 2, 0);
  for (std::size_t op = 0; op < 4; ++op)
    for (std::size_t block = 0; block < 2; ++block)
      cell.started[(op * 2 + 1) * 2 + block] = 100.0 * static_cast<double>(block) + static_cast<double>(op);
  CHECK_THAT((*block_starts(cell, "fused", kOperations))[1], WithinAbs(101.5, 1e-12));
  cell.started[3] = kNan;  // qkv_fwd, fused, block 1
  CHECK_FALSE(block_starts(cell, "fused", kOperations));
}

TEST_CASE("the straggler table shares ties and measures lag against the mean rank") {
  auto cell = blank_cell({"native_packed", "fused"}, {0, 1}, 40, 4);
  for (std::size_t op = 0; op < 4; ++op)
    for (std::size_t block = 0; block < 2; ++block)
      for (std::int64_t i = 0; i < 40; ++i) set(cell, op, 1, block, i, 3, 2.0);  // mean of 1, 1, 1, 2 is 1.25
  const auto fused = stragglers(cell, "fused", kOperations);
  REQUIRE(fused.size() == 4);
  CHECK_THAT(fused[3].slowest_share, WithinAbs(1.0, 1e-12));
  CHECK_THAT(fused[3].lag, WithinAbs(0.6, 1e-12));
  CHECK_THAT(fused[0].lag, WithinAbs(-0.2, 1e-12));
  for (const Straggler& even : stragglers(cell, "native_packed", kOperations))
    CHECK_THAT(even.slowest_share, WithinAbs(0.25, 1e-12));
  CHECK(stragglers(blank_cell({"native_packed", "fused"}, {0, 1}, 40, 1), "fused", kOperations).empty());
}

TEST_CASE("outliers are counted beyond Tukey's fences") {
  // Quartiles of 0..19 are 4 and 15, so the fences lie at 31.5 (mild) and 48 (severe).
  const auto found = [](double last) {
    std::vector<double> values;
    for (int i = 0; i < 19; ++i) values.push_back(i);
    values.insert(values.begin() + 7, last);
    return outliers(values);
  };
  CHECK(found(19).mild + found(19).severe == 0);
  CHECK(found(31).mild + found(31).severe == 0);
  CHECK(found(40).mild == 1);
  CHECK(found(40).severe == 0);
  CHECK(found(60).mild == 0);
  CHECK(found(60).severe == 1);
  std::vector<double> seven{1, 1, 1, 1, 1, 1, 99};
  CHECK(outliers(seven).severe == 0);
}
