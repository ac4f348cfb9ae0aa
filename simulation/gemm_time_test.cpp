#include <megaup/simulation/gemm_time.hpp>

#include <cmath>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/simulation/test_support/machines.hpp>

using namespace megaup::simulation;
using namespace megaup::simulation::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Two forward GEMMs: 2^34 FLOP in 1 s and 2^38 in 4 s, so 2^34 and 2^36 FLOP/s.
Machine machine_of_two_points() {
  Machine machine = plain_machine();
  machine.gemm = {{"a test", "2026-11", {{2048, 2048, 2048, true, 1.0}, {8192, 4096, 4096, true, 4.0}}}};
  return machine;
}

}  // namespace

TEST_CASE("a shape of the table takes what it took") {
  const auto answer = gemm_time(machine_of_two_points(), {8192, 4096, 4096, true});
  REQUIRE(answer);
  CHECK(answer->seconds == 4.0);
  CHECK_THAT(answer->rule, ContainsSubstring("measured"));
}

TEST_CASE("half way between two shapes the rate is the geometric mean of theirs") {
  // (4096, sqrt 2 * 2048, sqrt 2 * 2048) is as far from both; with whole numbers only nearly so.
  const auto answer = gemm_time(machine_of_two_points(), {4096, 2896, 2896, true});
  REQUIRE(answer);
  const double flop = 2.0 * 4096 * 2896 * 2896;
  CHECK(answer->seconds == Approx(flop / std::pow(2.0, 35)).epsilon(1e-3));
  CHECK_THAT(answer->rule, ContainsSubstring("interpolated between the 2 nearest of 2"));
}

TEST_CASE("a nearer shape weighs by one over the square of its distance") {
  // ln distances: 1/4 and 3/4 of the way, so weights 9 : 1 and a rate of 2^(34 + 2 * 1/10).
  Machine machine = plain_machine();
  machine.gemm = {{"a test", "2026-11", {{1024, 4096, 4096, true, 2.0}, {16384, 4096, 4096, true, 8.0}}}};
  const auto answer = gemm_time(machine, {2048, 4096, 4096, true});
  REQUIRE(answer);
  CHECK(answer->seconds == Approx(std::pow(2.0, 36) / std::pow(2.0, 34 + 2 * 0.1)).epsilon(1e-4));
}

TEST_CASE("the right form of weight is preferred, the other one better than none") {
  Machine machine = machine_of_two_points();
  machine.gemm[0].points.push_back({8192, 4096, 4096, false, 5.0});
  CHECK(gemm_time(machine, {8192, 4096, 4096, false})->seconds == 5.0);
  machine.gemm[0].points.pop_back();
  CHECK(gemm_time(machine, {8192, 4096, 4096, false})->seconds == Approx(4.0).epsilon(1e-4));
}

TEST_CASE("beyond the table whole waves are paid at the achieved rate") {
  // 128 SMs, tiles of 128 x 128: 9 * 16 = 144 tiles are 2 waves of 2 * 128^3 * 1024 FLOP each at 500 TFLOP/s, and 2 us.
  const double wave = 2.0 * 128 * 128 * 128 * 1024 / 500e12;
  const auto answer = gemm_time(machine_of_two_points(), {1152, 2048, 1024, true});
  REQUIRE(answer);
  CHECK(answer->seconds == Approx(2e-6 + 2 * wave));
  CHECK_THAT(answer->rule, ContainsSubstring("2 waves at 500 TFLOP/s"));
  CHECK(gemm_time(machine_of_two_points(), {1024, 2048, 1024, true})->seconds == Approx(2e-6 + wave));
  CHECK(waves(plain_machine(), {1025, 2048, 7, true}) == 2);
}

TEST_CASE("without a table that reaches or a rate there is a reason with the shape") {
  Machine machine = machine_of_two_points();
  machine.gemm_rate.reset();
  const auto answer = gemm_time(machine, {64, 64, 64, true});
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.reason(),
             ContainsSubstring("64 x 64 x 64") && ContainsSubstring("gemm_rate") && ContainsSubstring("plain"));
}
