#include <megaup/simulation/exchange_time.hpp>

#include <random>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/simulation/reorder_time.hpp>
#include <megaup/simulation/test_support/machines.hpp>

using namespace megaup::simulation;
using namespace megaup::simulation::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("an exchange follows its curve") {
  const ExchangeCurve curve{"nccl", 2, "a test", "2026-11", {{1e6, 10e-6}, {4e6, 22e-6}, {16e6, 88e-6}}};
  CHECK(on_curve(curve, 1e6) == Approx(10e-6));
  CHECK(on_curve(curve, 4e6) == Approx(22e-6));
  CHECK(on_curve(curve, 8e6) == Approx(44e-6));   // half way in ln bytes: sqrt(22 * 88)
  CHECK(on_curve(curve, 0.5e6) == Approx(8e-6));  // the line through the first two: 6 us + 4 us a MB
  CHECK(on_curve(curve, 0) == Approx(6e-6));
  CHECK(on_curve(curve, 160e6) == Approx(880e-6));  // at the last point's rate
  const ExchangeCurve one{"nccl", 2, "a test", "2026-11", {{1e6, 10e-6}}};
  CHECK(on_curve(one, 3e6) == Approx(30e-6));
  CHECK(on_curve(one, 0.1e6) == Approx(1e-6));
}

TEST_CASE("more bytes are never faster, whatever the curve") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> factor(1.01, 8), rise(1.0, 8);
  for (int round = 0; round < 50; ++round) {
    ExchangeCurve curve{"nccl", 2, "a test", "2026-11", {{1e4, 1e-6}}};
    for (int i = 0; i < 6; ++i)
      curve.points.push_back({curve.points.back().bytes * factor(random), curve.points.back().seconds * rise(random)});
    double before = 0;
    for (double bytes = 1; bytes < 1e11; bytes *= 1.07) {
      const double seconds = on_curve(curve, bytes);
      REQUIRE(seconds >= before * (1 - 1e-12));
      before = seconds;
    }
  }
}

TEST_CASE("one rank exchanges nothing, and a number of ranks without a curve is refused by name") {
  const Machine machine = plain_machine();
  CHECK(exchange_time(machine, "nccl", 1, 1e9)->seconds == 0);
  const auto answer = exchange_time(machine, "nccl", 8, 1e9);
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.reason(), ContainsSubstring("nccl among 8 ranks") && ContainsSubstring("copy_engine of 2 ranks"));
  CHECK_THAT(exchange_time(machine, "nccl", 2, 1e9)->rule, ContainsSubstring("beyond the curve"));
  CHECK_THAT(exchange_time(machine, "nccl", 2, 1e3)->rule, ContainsSubstring("below the least point"));
}

TEST_CASE("a reorder pass reads and writes every byte") {
  CHECK(reorder_time(plain_machine(), 30e6)->seconds == Approx(5e-6 + 60e6 / 3e12));
  Machine machine = plain_machine();
  machine.reorder.reset();
  CHECK_THAT(reorder_time(machine, 1).reason(), ContainsSubstring("reorder"));
}
