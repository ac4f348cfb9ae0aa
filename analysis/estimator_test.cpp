#include <megaup/core/estimator.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/test_support/cells.hpp>

using namespace megaup;
using namespace megaup::analysis;
using namespace megaup::core;
using namespace megaup::analysis::test_support;
using Catch::Approx;

namespace {

std::vector<double> counting(int last) {
  std::vector<double> values(static_cast<std::size_t>(last));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

/// One rank: observations as they are.
std::optional<BlockSummary> summary_of(std::vector<double> values, std::size_t ranks = 1) {
  std::vector<double> scratch;
  return summarise_block(values, ranks, scratch);
}

}  // namespace

TEST_CASE("the median of an even count is the mean of the two middle values") {
  auto values = counting(40);
  std::reverse(values.begin(), values.end());
  CHECK(median(values) == 20.5);
  auto odd = counting(41);
  CHECK(median(odd) == 21.0);
  std::vector<double> one{7.0}, two{1.0, 2.0};
  CHECK(median(one) == 7.0);
  CHECK(median(two) == 1.5);
}

TEST_CASE("the median of any data, of any length, is that of the sorted data") {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t n = round < 2900 ? 1 + random() % 90 : 1000 + random() % 100;
    std::vector<double> values(n);
    const auto distinct = 1 + random() % (round % 2 == 0 ? 4 : 1000000);  // many equal values, or hardly any
    for (double& value : values) value = static_cast<double>(random() % distinct);
    if (round % 3 == 0) std::sort(values.begin(), values.end());
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    REQUIRE(median(values) == (n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2])));
    std::sort(values.begin(), values.end());
    REQUIRE(values == sorted);
  }
}

TEST_CASE("one spike does not move the median") {
  std::vector<double> values(39, 100.0);
  values.push_back(10000.0);
  const auto summary = summary_of(values);
  REQUIRE(summary);
  CHECK(summary->median == 100.0);
  CHECK(summary->spread == 0.0);
}

TEST_CASE("two equal halves have the median between them and a wide spread") {
  std::vector<double> values(20, 100.0);
  values.insert(values.end(), 20, 200.0);
  const auto summary = summary_of(values);
  REQUIRE(summary);
  CHECK(summary->median == 150.0);
  CHECK(summary->spread == Approx(100.0 / 150.0));
  CHECK(summary->spread > kWideSpread);
}

TEST_CASE("ordinary noise is no wide spread") {
  std::mt19937 random(1);
  std::lognormal_distribution<double> noise(0.0, 0.05);
  std::vector<double> values(40);
  std::generate(values.begin(), values.end(), [&] { return noise(random); });
  CHECK(summary_of(values)->spread < kWideSpread);
}

TEST_CASE("the slowest rank of each observation comes before the median") {
  // Rank 0: 10, 20, 10, 20, ...; rank 1 the other way round. The largest of the ranks' medians would be 15.
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) {
    values.push_back(i % 2 == 0 ? 10.0 : 20.0);
    values.push_back(i % 2 == 0 ? 20.0 : 10.0);
  }
  CHECK(summary_of(values, 2)->median == 20.0);
}

TEST_CASE("a value that is no time spoils its block wherever it stands") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {kNan, kInfinity, -kInfinity, 0.0, -0.0, -1.0})
    for (const std::size_t at : {0, 19, 20, 39}) {
      auto values = counting(40);
      std::reverse(values.begin(), values.end());
      values[at] = bad;
      CHECK_FALSE(summary_of(values));
    }
  CHECK_FALSE(summary_of({}));
}

TEST_CASE("few observations have a median but no spread") {
  CHECK(summary_of({1.0, 5.0, 9.0})->spread == 0.0);
  CHECK(summary_of({1.0, 5.0, 9.0})->median == 5.0);
  CHECK(summary_of({1.0, 5.0, 5.0, 9.0})->spread == Approx(8.0 / 5.0));
}

TEST_CASE("orders disagree when the effect exceeds a quarter of Delta") {
  CHECK(orders_disagree(0.0, 20.0, 115.0));
  CHECK(orders_disagree(-1.0, 1.0, 10.0));
  CHECK(orders_disagree(-4.0, 1.0, 10.0));
  CHECK_FALSE(orders_disagree(4.0, 4.0, 8.0));
  CHECK_FALSE(orders_disagree(0.9, 1.1, 8.0));         // effect 0.1, Delta 1
  CHECK_FALSE(orders_disagree(0.8, 1.2, 8.0));         // effect 0.2
  CHECK(orders_disagree(0.7, 1.3, 8.0));               // effect 0.3
  CHECK_FALSE(orders_disagree(1e-12, -1e-12, 100.0));  // rounding around zero
}

namespace {

/// The estimator once more, straight from its definition and without any of the code above: sorts, loops, long double.
struct BruteForce {
  const core::CellRecord& cell;

  long double block(std::size_t op, std::size_t arm, std::size_t block_number) const {
    std::vector<long double> slowest;
    const std::size_t stride = static_cast<std::size_t>(cell.observations * cell.ranks);
    const std::size_t start = ((op * cell.arms.size() + arm) * cell.order.size() + block_number) * stride;
    for (std::int64_t i = 0; i < cell.observations; ++i) {
      long double worst = 0;
      for (std::int64_t rank = 0; rank < cell.ranks; ++rank)
        worst = std::max(
            worst, static_cast<long double>(cell.latency[start + static_cast<std::size_t>(i * cell.ranks + rank)]));
      slowest.push_back(worst);
    }
    std::sort(slowest.begin(), slowest.end());
    const std::size_t n = slowest.size();
    return n % 2 ? slowest[n / 2] : (slowest[n / 2 - 1] + slowest[n / 2]) / 2;
  }

  long double order_mean_ms(std::size_t op, std::size_t arm, std::uint8_t order) const {
    long double sum = 0;
    int count = 0;
    for (std::size_t b = 0; b < cell.order.size(); ++b)
      if (cell.order[b] == order) {
        sum += block(op, arm, b);
        ++count;
      }
    return 1000 * sum / count;
  }
};

core::CellRecord random_cell(std::mt19937& random) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<std::uint8_t> order;
  for (int pairs = pick(1, 4); pairs > 0; --pairs) order.insert(order.end(), {std::uint8_t{0}, std::uint8_t{1}});
  std::shuffle(order.begin(), order.end(), random);
  auto cell = blank_cell({"native_packed", "fused"}, order, pick(1, 45), pick(1, 8));
  std::shuffle(cell.operations.begin(), cell.operations.end(), random);
  if (pick(0, 1) == 1) std::swap(cell.arms[0], cell.arms[1]);
  std::lognormal_distribution<double> time(-6.0, 0.7);
  for (double& value : cell.latency) value = time(random);
  return cell;
}

}  // namespace

TEST_CASE("the estimator agrees with its definition on random cells") {
  std::mt19937 random(20261129);
  for (int round = 0; round < 300; ++round) {
    const auto cell = random_cell(random);
    const auto rows = cell_rows(blank_record(), cell);
    REQUIRE(rows.size() == 1);
    REQUIRE(rows[0].delta);
    const BruteForce brute{cell};
    const auto native =
        static_cast<std::size_t>(std::find(cell.arms.begin(), cell.arms.end(), "native_packed") - cell.arms.begin());
    long double initial = 0, reversed = 0;
    for (std::size_t op = 0; op < 4; ++op) {
      const auto& shown = rows[0].operations[op];
      const auto stored = static_cast<std::size_t>(
          std::find(cell.operations.begin(), cell.operations.end(), kOperations[op]) - cell.operations.begin());
      long double by_order[2];
      for (const std::uint8_t order : {std::uint8_t{0}, std::uint8_t{1}})
        by_order[order] = brute.order_mean_ms(stored, native, order) - brute.order_mean_ms(stored, 1 - native, order);
      CHECK(shown.operation == kOperations[op]);
      CHECK(shown.delta_ms == Approx(static_cast<double>((by_order[0] + by_order[1]) / 2)).margin(1e-10));
      initial += by_order[0];
      reversed += by_order[1];
    }
    CHECK(rows[0].delta->initial_ms == Approx(static_cast<double>(initial)).margin(1e-10));
    CHECK(rows[0].delta->reversed_ms == Approx(static_cast<double>(reversed)).margin(1e-10));
    CHECK(rows[0].delta->delta_ms == Approx(static_cast<double>((initial + reversed) / 2)).margin(1e-10));
  }
}

TEST_CASE("swapping the arms turns the sign, scaling the times scales Delta") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    auto cell = random_cell(random);
    const double delta = cell_rows(blank_record(), cell)[0].delta->delta_ms;
    auto scaled = cell;
    for (double& value : scaled.latency) value *= 4;  // exact in binary
    CHECK(cell_rows(blank_record(), scaled)[0].delta->delta_ms == 4 * delta);
    std::swap(cell.arms[0], cell.arms[1]);
    CHECK(cell_rows(blank_record(), cell)[0].delta->delta_ms == -delta);
  }
}

TEST_CASE("the order of observations and of ranks does not matter, bit for bit") {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    auto cell = random_cell(random);
    const double delta = cell_rows(blank_record(), cell)[0].delta->delta_ms;
    const auto block = static_cast<std::ptrdiff_t>(cell.observations * cell.ranks);
    for (auto first = cell.latency.begin(); first != cell.latency.end(); first += block)
      for (std::ptrdiff_t i = 0; i < block; i += cell.ranks) std::shuffle(first + i, first + i + cell.ranks, random);
    CHECK(cell_rows(blank_record(), cell)[0].delta->delta_ms == delta);
  }
}
