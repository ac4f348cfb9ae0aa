#include <megaup/analysis/assumptions.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>

using namespace megaup;
using namespace megaup::analysis;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

Row row(double baseline_ms, double candidate_ms) {
  Row result;
  result.delta =
      Delta{.baseline_ms = baseline_ms, .candidate_ms = candidate_ms, .delta_ms = baseline_ms - candidate_ms};
  return result;
}

}  // namespace

TEST_CASE("times are milliseconds or carry a unit") {
  CHECK(parse_milliseconds("--h", "0.1") == 0.1);
  CHECK(parse_milliseconds("--h", "0.10 ms") == 0.1);
  CHECK(parse_milliseconds("--h", "100us") == Approx(0.1));
  CHECK(parse_milliseconds("--h", "1e-4 s") == Approx(0.1));
  CHECK(parse_milliseconds("--h", "250 ns") == Approx(2.5e-4));
  CHECK(parse_milliseconds("--h", "-0.5") == -0.5);
  for (const char* text : {"", "ms", "1 min", "1,5", "nan", "inf", "1e999", "0x10", "1 ms ms", "1ms "})
    CHECK_THROWS_MATCHES(parse_milliseconds("--h", text), core::Error,
                         MessageMatches(ContainsSubstring("--h: '" + std::string(text) + "'")));
}

TEST_CASE("benefit needs h below Delta, not at it") {
  const Row one = row(5.0, 4.0);
  CHECK(saving_ms(one, {.h_ms = 0.25}) == 0.75);
  CHECK(saving_ms(one, {.h_ms = 1.0}) == 0.0);
  CHECK(saving_ms(one, {.h_ms = 2.0}) == -1.0);
  CHECK_FALSE(saving_ms(one, {}));
  CHECK_FALSE(saving_ms(Row(), {.h_ms = 0.25}));
}

TEST_CASE("a percentage needs a base") {
  const Row one = row(5.0, 4.0);
  CHECK_FALSE(step_percent(one, {}));
  CHECK_FALSE(step_percent(one, {.h_ms = 0.5}));
  CHECK(step_percent(one, {.step_ms = 20.0}) == 5.0);
  CHECK(step_percent(one, {.h_ms = 0.5, .step_ms = 20.0}) == 2.5);
  CHECK(step_percent(one, {.unchanged_ms = 15.0}) == 5.0);
  CHECK(step_percent(one, {.unchanged_ms = 0.0}) == 20.0);
  CHECK_FALSE(step_percent(one, {.step_ms = 4.9}));  // cannot hold 5 ms of operations
  CHECK_FALSE(step_percent(Row(), {.step_ms = 20.0}));
  CHECK(percent_base({}).empty());
  CHECK_THAT(percent_base({.step_ms = 20.0}), ContainsSubstring("given"));
  CHECK_THAT(percent_base({.unchanged_ms = 15.0}), ContainsSubstring("assumed"));
}

TEST_CASE("contradicting or impossible bases are refused") {
  CHECK_NOTHROW(check({.h_ms = -1.0, .step_ms = 1.0}));
  CHECK_NOTHROW(check({.unchanged_ms = 0.0}));
  CHECK_THROWS_AS(check({.step_ms = 1.0, .unchanged_ms = 1.0}), core::Error);
  CHECK_THROWS_AS(check({.step_ms = 0.0}), core::Error);
  CHECK_THROWS_AS(check({.unchanged_ms = -1.0}), core::Error);
}
