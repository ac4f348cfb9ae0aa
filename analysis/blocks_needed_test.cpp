#include <megaup/analysis/blocks_needed.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <megaup/analysis/sequential.hpp>

using namespace megaup::analysis;

namespace {

OrderedMean spread_of(double spread, std::int64_t blocks) {
  OrderedMean estimate;
  estimate.spread = spread;
  estimate.blocks = blocks;
  estimate.degrees = blocks - 2;
  return estimate;
}

/// Two blocks of each order whose half-width is t(2) * 0.1 / sqrt(2 pairs) and so on: every order has values at -0.1 and +0.1 in turn.
std::vector<double> alternating(std::size_t blocks) {
  std::vector<double> values;
  for (std::size_t block = 0; block < blocks; ++block) values.push_back(block / 2 % 2 == 0 ? 0.1 : -0.1);
  return values;
}

std::vector<std::uint8_t> orders(std::size_t blocks) {
  std::vector<std::uint8_t> order;
  for (std::size_t block = 0; block < blocks; ++block) order.push_back(static_cast<std::uint8_t>(block % 2));
  return order;
}

}  // namespace

TEST_CASE("blocks still needed: counted up one pair at a time with scipy") {
  CHECK(blocks_needed(spread_of(0.1, 4), 0.05, 0.95) == 18);
  CHECK(blocks_needed(spread_of(0.1, 8), 0.02, 0.95) == 100);
  CHECK(blocks_needed(spread_of(0.01, 4), 0.001, 0.95) == 388);
  CHECK(blocks_needed(spread_of(1.0, 8), 0.02, 0.95) == 9608);
  CHECK(blocks_needed(spread_of(0.1, 4), 1.0, 0.95) == 6);
}

TEST_CASE("what repeating cannot decide has no number of blocks") {
  CHECK_FALSE(blocks_needed(spread_of(0.1, 4), 0, 0.95));
  CHECK_FALSE(blocks_needed(spread_of(0.1, 4), -1, 0.95));
  CHECK_FALSE(blocks_needed(spread_of(1.0, 4), 1e-3, 0.95));
}

TEST_CASE("a run looks at doubling numbers of pairs, and shares the 5 % out over the looks") {
  CHECK(looks(16) == std::vector<std::int64_t>{2, 4, 8, 16});
  CHECK(looks(12) == std::vector<std::int64_t>{2, 4, 8, 12});
  CHECK(looks(2) == std::vector<std::int64_t>{2});
  CHECK(look_confidence(1) == 0.95);
  CHECK(look_confidence(4) == 0.9875);
}

TEST_CASE("a run stops at a look whose interval is narrow enough, and at the last pair in any case") {
  // 8 pairs: spread 0.1069, half-width t(0.99375, 14) * 0.1069 / 4 = 0.0766 (scipy).
  CHECK_FALSE(may_stop(alternating(16), orders(16), 0.076, 16));
  CHECK(may_stop(alternating(16), orders(16), 0.077, 16));
  CHECK_FALSE(may_stop(alternating(14), orders(14), 1e9, 16));  // 7 pairs are no look
  CHECK_FALSE(may_stop(alternating(2), orders(2), 1e9, 16));
  CHECK(may_stop(alternating(32), orders(32), 1e-9, 16));
}
