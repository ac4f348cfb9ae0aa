#include <megaup/analysis/verdict.hpp>

#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/analysis/sign_flip.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace megaup::analysis;

namespace {

Evidence evidence(const std::vector<double>& differences, std::optional<double> resolution = std::nullopt) {
  std::vector<std::uint8_t> order;
  for (std::size_t block = 0; block < differences.size(); ++block)
    order.push_back(block % 4 == 0 || block % 4 == 3 ? 0 : 1);
  return {.difference = *ordered_mean(differences, order),
          .sign_flip_p = sign_flip_p(differences),
          .resolution = resolution,
          .candidate = "fused"};
}

}  // namespace

TEST_CASE("benefit: the words say the saving, its range and the largest safe overhead") {
  // mean 0.12, spread 0.02 within each order, B = 8: half-width 2.4469 * 0.02 / sqrt(8) = 0.0173, h_safe = 0.12 - 1.9432 * 0.00707 = 0.106
  const double d = 0.02 * 0.8660254037844386;  // so that the squares sum to 6 * 0.02^2
  const Verdict verdict =
      verdict_of(evidence({0.12 + d, 0.12 + d, 0.12 - d, 0.12 - d, 0.12 + d, 0.12 + d, 0.12 - d, 0.12 - d}));
  CHECK(verdict.kind == VerdictKind::benefit);
  CHECK(verdict.reason ==
        "fused saves 0.120 ms (0.103 to 0.137 ms); worth it while integration costs less than 0.106 ms");
  CHECK_FALSE(verdict.more_blocks);
}

TEST_CASE("harm keeps its sign in words") {
  const Verdict verdict = verdict_of(evidence({-0.05, -0.051, -0.049, -0.05, -0.052, -0.05, -0.051, -0.049}));
  CHECK(verdict.kind == VerdictKind::harm);
  CHECK_THAT(verdict.reason, ContainsSubstring("fused loses 0.050 ms (0.049 to 0.051 ms)"));
}

TEST_CASE("no difference is equivalence: it needs a resolution, and the whole interval inside it") {
  const std::vector<double> near_zero{0.001, -0.001, 0.002, -0.002, 0.001, -0.001, 0.001, -0.001};
  CHECK(verdict_of(evidence(near_zero, 0.02)).kind == VerdictKind::no_difference);
  CHECK_THAT(verdict_of(evidence(near_zero, 0.02)).reason,
             ContainsSubstring("within 0.020 ms, the resolution of this run"));
  CHECK(verdict_of(evidence(near_zero, 0.0005)).kind == VerdictKind::undecided);
  const Verdict without = verdict_of(evidence(near_zero));
  CHECK(without.kind == VerdictKind::undecided);
  CHECK_THAT(without.reason, ContainsSubstring("no A/A comparison"));
}

TEST_CASE("a saving inside the resolution is not a benefit") {
  const std::vector<double> small{0.010, 0.011, 0.009, 0.010, 0.011, 0.009, 0.010, 0.010};
  CHECK(verdict_of(evidence(small)).kind == VerdictKind::benefit);
  CHECK(verdict_of(evidence(small, 0.02)).kind == VerdictKind::no_difference);
  CHECK(verdict_of(evidence(small, 0.0102)).kind == VerdictKind::undecided);
}

TEST_CASE("undecided says about how many more blocks would decide") {
  const Verdict verdict = verdict_of(evidence({0.2, -0.1, 0.15, 0.05}));
  CHECK(verdict.kind == VerdictKind::undecided);
  REQUIRE(verdict.more_blocks);
  CHECK(*verdict.more_blocks > 0);
  CHECK_THAT(verdict.reason, ContainsSubstring("needs about " + std::to_string(*verdict.more_blocks) + " more blocks"));
}

TEST_CASE("no benefit when the run orders disagree in sign") {
  Evidence seen = evidence({0.1, 0.1, 0.1, 0.1});
  seen.difference.initial = 0.3;
  seen.difference.reversed = -0.1;
  const Verdict verdict = verdict_of(seen);
  CHECK(verdict.kind == VerdictKind::undecided);
  CHECK_THAT(verdict.reason,
             ContainsSubstring(
                 "the run orders disagree: +0.300 ms from the initial blocks, -0.100 ms from the reversed ones"));
}

TEST_CASE("sign flips can take a verdict back from six blocks on, not before") {
  Evidence eight = evidence({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  CHECK(verdict_of(eight).kind == VerdictKind::benefit);
  eight.sign_flip_p = 0.2;
  CHECK(verdict_of(eight).kind == VerdictKind::undecided);
  Evidence four = evidence({0.1, 0.1, 0.1, 0.1});
  CHECK(four.sign_flip_p == 0.125);  // the least that four blocks allow
  CHECK(verdict_of(four).kind == VerdictKind::benefit);
}

TEST_CASE("the verdicts have names") {
  CHECK(name(VerdictKind::no_difference) == "no difference");
  CHECK(name(VerdictKind::not_measured) == "not measured");
}
