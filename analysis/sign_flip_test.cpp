#include <megaup/analysis/sign_flip.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using Catch::Matchers::WithinAbs;
using megaup::analysis::sign_flip_p;

TEST_CASE("sign flips count every pattern (literals by brute force in Python)") {
  CHECK(sign_flip_p(std::vector<double>{1, 2, 3, 4}) == 0.125);
  CHECK(sign_flip_p(std::vector<double>{1, -2, 3, 4, 0.5}) == 0.3125);
  CHECK(sign_flip_p(std::vector<double>{0.31, 0.12, 0.25, 0.40, 0.18, 0.22, 0.35, 0.09}) == 0.0078125);
  CHECK(sign_flip_p(std::vector<double>{0.3, -0.1, 0.2, -0.25, 0.15, 0.05}) == 0.5625);
  CHECK(sign_flip_p(std::vector<double>{1, 1, 1, 1, 1, -1}) == 0.21875);
  CHECK(sign_flip_p(std::vector<double>{-1, -1, -1, -1, -1, -1}) == 0.03125);
}

TEST_CASE("nothing to flip is no evidence") {
  CHECK(sign_flip_p(std::vector<double>{}) == 1);
  CHECK(sign_flip_p(std::vector<double>{0, 0, 0, 0}) == 1);
}

TEST_CASE("above sixteen blocks the share is drawn, close to the exact one") {
  // n equal values, k of them negative: the sum n - 2k is reached by every pattern with at most k or at least n - k flips.
  const int n = 20, k = 6;
  std::vector<double> values(n, 1.0);
  for (int i = 0; i < k; ++i) values[static_cast<std::size_t>(i)] = -1;
  double exact = 0, choose = 1;
  for (int i = 0; i <= k; ++i) {
    exact += 2 * choose / std::ldexp(1.0, n);
    choose = choose * (n - i) / (i + 1);
  }
  CHECK_THAT(sign_flip_p(values), WithinAbs(exact, 5e-3));
  CHECK(sign_flip_p(values) == sign_flip_p(values));
}
