#include <megaup/analysis/interval.hpp>

#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <megaup/analysis/order_effect.hpp>
#include <megaup/analysis/resolution.hpp>

using Catch::Matchers::WithinRel;
using namespace megaup::analysis;

namespace {

// Worked with numpy and scipy; ordinary least squares on (1, +-1 for the order) gives the same standard error with the same 6 degrees.
const std::vector<double> kDifferences{0.31, 0.12, 0.25, 0.40, 0.18, 0.22, 0.35, 0.09};
const std::vector<std::uint8_t> kOrder{0, 1, 1, 0, 0, 1, 1, 0};

}  // namespace

TEST_CASE("the interval of eight blocks takes its spread within each order") {
  const auto estimate = ordered_mean(kDifferences, kOrder);
  REQUIRE(estimate);
  CHECK_THAT(estimate->mean, WithinRel(0.24, 1e-12));
  CHECK_THAT(estimate->initial, WithinRel(0.245, 1e-12));
  CHECK_THAT(estimate->reversed, WithinRel(0.235, 1e-12));
  CHECK_THAT(estimate->spread, WithinRel(0.11789826122551596, 1e-12));
  CHECK_THAT(estimate->standard_error, WithinRel(0.04168333000133267, 1e-12));
  CHECK(estimate->degrees == 6);
  const Interval interval = interval_of(*estimate, 0.95);
  CHECK_THAT(interval.low, WithinRel(0.13800456592264534, 1e-8));
  CHECK_THAT(interval.high, WithinRel(0.34199543407735467, 1e-8));
  CHECK_THAT(lower_bound(*estimate, 0.95), WithinRel(0.15900177512030553, 1e-8));
  CHECK_THAT(p_value(*estimate), WithinRel(0.001196093575449162, 1e-8));
}

TEST_CASE("an effect of the order does not widen the interval") {
  auto shifted = kDifferences;
  for (std::size_t block = 0; block < shifted.size(); ++block) shifted[block] += kOrder[block] == 0 ? 10 : -10;
  const auto estimate = ordered_mean(shifted, kOrder);
  REQUIRE(estimate);
  CHECK_THAT(estimate->mean, WithinRel(0.24, 1e-8));
  CHECK_THAT(estimate->standard_error, WithinRel(0.04168333000133267, 1e-8));
}

TEST_CASE("fewer than two blocks of one order give no interval") {
  const std::vector<double> values{1, 2, 3, 4};
  CHECK_FALSE(ordered_mean(std::vector<double>{1, 2}, std::vector<std::uint8_t>{0, 1}));
  CHECK_FALSE(ordered_mean(std::vector<double>{}, std::vector<std::uint8_t>{}));
  CHECK_FALSE(ordered_mean(values, std::vector<std::uint8_t>{0, 0, 0, 1}));
  CHECK(ordered_mean(values, std::vector<std::uint8_t>{0, 1, 1, 0}));
}

TEST_CASE("four equal blocks have an interval of no width") {
  const auto estimate = ordered_mean(std::vector<double>{2, 2, 2, 2}, std::vector<std::uint8_t>{0, 1, 1, 0});
  REQUIRE(estimate);
  CHECK(interval_of(*estimate, 0.95).low == 2);
  CHECK(interval_of(*estimate, 0.95).high == 2);
  CHECK(p_value(*estimate) == 0);
}

TEST_CASE("the order effect has the same half-width as the difference") {
  const OrderEffect effect = order_effect(*ordered_mean(kDifferences, kOrder), 0.95, std::nullopt);
  CHECK_THAT(effect.effect, WithinRel(0.005, 1e-8));
  CHECK_THAT(effect.interval.low, WithinRel(-0.09699543407735466, 1e-8));
  CHECK_THAT(effect.interval.high, WithinRel(0.10699543407735464, 1e-8));
  CHECK_FALSE(effect.matters);
}

TEST_CASE(
    "an order effect matters when noise cannot explain it and it is large against the difference or the resolution") {
  const std::vector<std::uint8_t> order{0, 1, 1, 0};
  const auto large = ordered_mean(std::vector<double>{1.5, 0.5, 0.51, 1.51}, order);      // 1 +- 0.5
  const auto small = ordered_mean(std::vector<double>{1.05, 0.95, 0.951, 1.051}, order);  // 1 +- 0.05
  CHECK(order_effect(*large, 0.95, std::nullopt).matters);
  CHECK_FALSE(order_effect(*small, 0.95, std::nullopt).matters);
  CHECK_FALSE(order_effect(*small, 0.95, 0.2).matters);
  CHECK(order_effect(*small, 0.95, 0.01).matters);
}

TEST_CASE("the resolution is the far end of the A/A interval, and its share of the arm's time") {
  const auto resolution = resolution_of(ordered_mean(kDifferences, kOrder), 3.4, 0.95);
  REQUIRE(resolution);
  CHECK_THAT(resolution->ms, WithinRel(0.34199543407735467, 1e-8));
  CHECK_THAT(resolution->share, WithinRel(0.34199543407735467 / 3.4, 1e-8));
  auto negative = kDifferences;
  for (double& value : negative) value = -value;
  CHECK_THAT(resolution_of(ordered_mean(negative, kOrder), 3.4, 0.95)->ms, WithinRel(0.34199543407735467, 1e-8));
  CHECK_FALSE(resolution_of(std::nullopt, 3.4, 0.95));
}
