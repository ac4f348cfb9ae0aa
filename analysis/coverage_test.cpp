#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>

#include <megaup/analysis/false_discovery.hpp>
#include <megaup/analysis/interval.hpp>
#include <megaup/analysis/sequential.hpp>
#include <megaup/analysis/sign_flip.hpp>
#include <megaup/analysis/verdict.hpp>
#include <megaup/core/estimator.hpp>

// Runs made up with a known Delta, through the estimator as files go through it. The long form is a benchmark, not a test:
//   megaup_analysis_tests "[benchmark]"
// prints the tables of docs/statistics.md.

using namespace megaup::analysis;

namespace {

constexpr std::array<double, 4> kBase{1.0, 0.7, 0.7, 1.0};  // ms an operation
constexpr std::size_t kObservations = 40, kRanks = 2;

struct World {
  double saving = 0.05;        ///< of the baseline
  double block_effect = 0.01;  ///< standard deviation, of each operation and arm in each block
  double noise = 0.02;         ///< of one rank's observation, lognormal
  double order_effect = 0;     ///< of the candidate in the reversed order
};

double true_delta(const World& world) {
  double base = 0;
  for (const double ms : kBase) base += ms;
  return base * (world.saving - 0.5 * world.order_effect);
}

struct Run {
  std::vector<double> differences;
  std::vector<std::uint8_t> order;
};

/// `pairs` pairs of blocks in ABBA order; the rank maximum adds the same share to both arms, which the true Delta leaves out, so the made-up
/// latencies are divided by the median of that maximum first.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Run run(const World& world, std::int64_t pairs) {
    Run made;
    for (std::int64_t pair = 0; pair < pairs; ++pair)
      for (int half = 0; half < 2; ++half) {
        const auto order = static_cast<std::uint8_t>((pair + half) % 2);
        made.order.push_back(order);
        made.differences.push_back(block_difference(world, order));
      }
    return made;
  }

 private:
  double block_difference(const World& world, std::uint8_t order) {
    double difference = 0;
    for (const double base : kBase) {
      difference += block_median(world, base);
      difference -= block_median(world, base * (1 - world.saving + (order == 1 ? world.order_effect : 0)));
    }
    return difference;
  }

  double block_median(const World& world, double ms) {
    // The median of the larger of two standard normals is the z with Phi(z)^2 = 1/2.
    constexpr double kMedianOfLarger = 0.5449521356;
    const double level = ms * (1 + world.block_effect * normal_(random_)) * std::exp(-world.noise * kMedianOfLarger);
    latency_.resize(kObservations * kRanks);
    for (double& time : latency_) time = level * std::exp(world.noise * normal_(random_));
    return megaup::core::summarise_block(latency_, kRanks, scratch_)->median;
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<double> latency_, scratch_;
};

struct Coverage {
  double covered = 0, width = 0;  ///< share of the intervals that hold the true Delta; mean half-width
  double safe = 0;                ///< share of the runs whose h_safe is not above the true Delta
};

Coverage coverage(const World& world, std::int64_t blocks, int runs, std::uint64_t seed) {
  Maker maker(seed);
  Coverage result;
  const double truth = true_delta(world);
  for (int i = 0; i < runs; ++i) {
    const Run run = maker.run(world, blocks / 2);
    const OrderedMean estimate = ordered_mean(run.differences, run.order).value();
    const Interval interval = interval_of(estimate, 0.95);
    result.covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
    result.width += 0.5 * (interval.high - interval.low);
    result.safe += lower_bound(estimate, 0.95) <= truth ? 1 : 0;
  }
  for (double* share : {&result.covered, &result.width, &result.safe}) *share /= runs;
  return result;
}

struct Calls {
  double benefit = 0, harm = 0;  ///< share of the runs with this verdict
};

Calls calls(const World& world, std::int64_t blocks, int runs, std::uint64_t seed) {
  Maker maker(seed);
  Calls result;
  for (int i = 0; i < runs; ++i) {
    const Run run = maker.run(world, blocks / 2);
    const Verdict verdict = verdict_of(
        {.difference = ordered_mean(run.differences, run.order).value(), .sign_flip_p = sign_flip_p(run.differences)});
    result.benefit += verdict.kind == VerdictKind::benefit ? 1.0 / runs : 0;
    result.harm += verdict.kind == VerdictKind::harm ? 1.0 / runs : 0;
  }
  return result;
}

/// Share of grids of `cells` null cells with at least one benefit or harm: one by one, and after Benjamini and Hochberg.
std::array<double, 2> grids_with_a_call(int cells, std::int64_t blocks, int grids, std::uint64_t seed) {
  Maker maker(seed);
  const World null{.saving = 0};
  std::array<double, 2> share{0, 0};
  for (int grid = 0; grid < grids; ++grid) {
    std::vector<double> p;
    for (int cell = 0; cell < cells; ++cell) {
      const Run run = maker.run(null, blocks / 2);
      p.push_back(p_value(ordered_mean(run.differences, run.order).value()));
    }
    bool alone = false, together = false;
    for (const double value : p) alone = alone || value < 0.05;
    for (const bool found : discoveries(p, 0.05)) together = together || found;
    share[0] += alone ? 1.0 / grids : 0;
    share[1] += together ? 1.0 / grids : 0;
  }
  return share;
}

/// Runs that look after 2, 4, 8, ... pairs and stop at the half-width: coverage at the confidence of the looks, and at an unadjusted 95 %.
struct Stopped {
  double covered = 0, unadjusted = 0, pairs = 0;
};

Stopped stopped(const World& world, double half_width, std::int64_t max_pairs, int runs, std::uint64_t seed) {
  Maker maker(seed);
  Stopped result;
  const double truth = true_delta(world);
  const double confidence = look_confidence(static_cast<std::int64_t>(looks(max_pairs).size()));
  const auto holds = [&](const OrderedMean& estimate, double level) {
    const Interval interval = interval_of(estimate, level);
    return interval.low <= truth && truth <= interval.high ? 1.0 : 0.0;
  };
  for (int i = 0; i < runs; ++i) {
    const Run whole = maker.run(world, max_pairs);
    std::size_t blocks = 2;
    const auto taken = [&](const auto& all) { return std::span(all).first(blocks); };
    while (!may_stop(taken(whole.differences), taken(whole.order), half_width, max_pairs)) blocks += 2;
    const OrderedMean estimate = ordered_mean(taken(whole.differences), taken(whole.order)).value();
    result.covered += holds(estimate, confidence);
    result.unadjusted += holds(estimate, 0.95);
    result.pairs += static_cast<double>(blocks) / 2;
  }
  for (double* value : {&result.covered, &result.unadjusted, &result.pairs}) *value /= runs;
  return result;
}

}  // namespace

TEST_CASE("a short simulation: the 95 % interval covers, and null cells are rarely called") {
  // 600 runs: a share of 95 % has a standard error of 0.9 %. The seed is fixed, so the answer is too.
  const Coverage saving = coverage({}, 8, 600, 1);
  CHECK(saving.covered > 0.93);
  CHECK(saving.covered < 0.97);
  const Calls null = calls({.saving = 0}, 8, 600, 2);
  CHECK(null.benefit + null.harm < 0.08);
}

TEST_CASE("coverage of the interval and of h_safe", "[.][benchmark]") {
  constexpr int kRuns = 10000;
  fmt::print(
      "\n| blocks | effect of blocks | effect of order | interval holds Delta | half-width, % of baseline | h_safe <= "
      "Delta |\n"
      "| ---: | ---: | ---: | ---: | ---: | ---: |\n");
  std::uint64_t seed = 100;
  for (const std::int64_t blocks : {4, 6, 8, 12, 16})
    for (const World& world : {World{}, World{.order_effect = 0.02}, World{.block_effect = 0}}) {
      const Coverage c = coverage(world, blocks, kRuns, ++seed);
      fmt::print("| {} | {:.0f} % | {:.0f} % | {:.1f} % | {:.2f} | {:.1f} % |\n", blocks, 100 * world.block_effect,
                 100 * world.order_effect, 100 * c.covered, 100 * c.width / 3.4, 100 * c.safe);
      CHECK(c.covered > 0.93);
      CHECK(c.covered < 0.97);
    }
}

TEST_CASE("false verdicts on null cells, without a resolution", "[.][benchmark]") {
  constexpr int kRuns = 5000;
  fmt::print("\n| blocks | called a benefit | called a harm |\n| ---: | ---: | ---: |\n");
  std::uint64_t seed = 200;
  for (const std::int64_t blocks : {4, 6, 8, 12, 16}) {
    const Calls c = calls({.saving = 0}, blocks, kRuns, ++seed);
    fmt::print("| {} | {:.2f} % | {:.2f} % |\n", blocks, 100 * c.benefit, 100 * c.harm);
    CHECK(c.benefit < 0.03);
    CHECK(c.harm < 0.03);
  }
  const auto grids = grids_with_a_call(96, 8, 400, 300);
  fmt::print(
      "\ngrids of 96 null cells with at least one call: {:.0f} % one by one, {:.1f} % after Benjamini-Hochberg\n",
      100 * grids[0], 100 * grids[1]);
  CHECK(grids[1] < 0.09);
}

TEST_CASE("stopping at a half-width keeps its coverage", "[.][benchmark]") {
  fmt::print(
      "\n| half-width, % of baseline | most pairs | pairs used | interval holds Delta | the same at an unadjusted 95 % "
      "|\n"
      "| ---: | ---: | ---: | ---: | ---: |\n");
  std::uint64_t seed = 400;
  for (const double percent : {0.5, 1.0, 2.0}) {
    const Stopped s = stopped({}, 3.4 * percent / 100, 16, 4000, ++seed);
    fmt::print("| {} | 16 | {:.1f} | {:.1f} % | {:.1f} % |\n", percent, s.pairs, 100 * s.covered, 100 * s.unadjusted);
    CHECK(s.covered > 0.95);
  }
}
