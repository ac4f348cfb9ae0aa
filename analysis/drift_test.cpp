#include <megaup/analysis/drift.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using Catch::Matchers::WithinRel;
using namespace megaup::analysis;

TEST_CASE("Theil-Sen slope and Mann-Kendall p are those of scipy") {
  const std::vector<double> x{0, 10, 20, 30, 40, 50, 61, 70};
  const std::vector<double> y{1.0, 1.02, 0.99, 1.05, 1.06, 1.01, 1.08, 1.10};
  CHECK_THAT(theil_sen_slope(x, y), WithinRel(0.0013333333333333346, 1e-9));
  CHECK_THAT(mann_kendall_p(y), WithinRel(0.03115079365079365, 1e-9));  // kendalltau, exact
  CHECK_THAT(mann_kendall_p(std::vector<double>{1, 3, 2, 5, 4}),
             WithinRel(0.23333333333333334, 1e-9));  // kendalltau, exact
  CHECK_THAT(mann_kendall_p(std::vector<double>{1, 2, 3, 4}), WithinRel(0.08333333333333333, 1e-9));
  CHECK_THAT(mann_kendall_p(std::vector<double>{3, 1, 4, 1, 5, 9, 2, 6}),
             WithinRel(0.21248644570250086, 1e-9));  // ties: by the formula
}

TEST_CASE("the exact Mann-Kendall p is the share of all permutations") {
  const auto score = [](const std::array<double, 6>& v) {
    int s = 0;
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t j = i + 1; j < v.size(); ++j) s += v[j] > v[i] ? 1 : -1;
    return std::abs(s);
  };
  const std::array<double, 6> values{2, 1, 3, 6, 4, 5};
  std::array<double, 6> order{1, 2, 3, 4, 5, 6};
  int reached = 0, all = 0;
  do {
    ++all;
    reached += score(order) >= score(values) ? 1 : 0;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK_THAT(mann_kendall_p(values), WithinRel(static_cast<double>(reached) / all, 1e-12));
}

TEST_CASE("one wild block does not move the slope, and no trend has none") {
  std::vector<double> x(9), y(9);
  std::iota(x.begin(), x.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 5 + 2 * x[i];
  y[4] = 1000;
  CHECK_THAT(theil_sen_slope(x, y), WithinRel(2.0, 1e-12));
  CHECK(theil_sen_slope(std::vector<double>{3, 3}, std::vector<double>{1, 2}) == 0);
  CHECK(mann_kendall_p(std::vector<double>{7, 7, 7, 7}) == 1);
  CHECK(mann_kendall_p(std::vector<double>{1, 2}) == 1);
}

TEST_CASE("a rise over sixty values is found") {
  std::vector<double> rising(60);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<double>(i) + (i % 2 == 0 ? 3 : -3);
  CHECK(mann_kendall_p(rising) < 1e-9);
}
