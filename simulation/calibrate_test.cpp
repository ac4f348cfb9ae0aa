#include <megaup/simulation/calibrate.hpp>

#include <cmath>
#include <random>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/simulation/contention_fit.hpp>
#include <megaup/simulation/curve_fit.hpp>
#include <megaup/simulation/exchange_time.hpp>
#include <megaup/simulation/gemm_time.hpp>
#include <megaup/simulation/test_support/runs.hpp>

using namespace megaup;
using namespace megaup::simulation;
using namespace megaup::simulation::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A machine whose exchanges are straight lines, so that any sizes show the same figures.
Machine true_machine() {
  Machine machine = plain_machine();
  machine.exchange[0].points = {{1e6, 10e-6}, {10e6, 28e-6}, {100e6, 208e-6}, {1000e6, 2008e-6}};
  machine.exchange[1].points = {{1e6, 20e-6}, {10e6, 32e-6}, {100e6, 152e-6}, {1000e6, 1352e-6}};
  machine.push = Contention{figure(1.08), figure(1.6)};
  machine.pull = Contention{figure(0.95), figure(1.3)};
  return machine;
}

/// What no run tells.
Machine base_machine() {
  Machine machine = plain_machine();
  machine.name = "base";
  machine.exchange = {{"nccl", 2, "a data sheet", "2026-01", {{1, 1}}},
                      {"nccl", 8, "a data sheet", "2026-01", {{1, 1}}}};
  machine.push.reset(), machine.pull.reset();
  machine.gemm_rate.reset(), machine.reorder.reset(), machine.gap.reset(), machine.link_rate.reset();
  return machine;
}

Measurements sound(const std::vector<core::Record>& records) {
  auto answer = measurements(records);
  REQUIRE(answer);
  return *answer;
}

Machine calibrated(const std::vector<core::Record>& records) {
  auto answer = calibrate(sound(records), base_machine(), "fitted", "for a test");
  REQUIRE(answer);
  return *answer;
}

}  // namespace

TEST_CASE("calibration gives back the figures of the machine that was measured") {
  const Machine truth = true_machine();
  const Machine found = calibrated({run_on(truth)});
  CHECK(violations(found).empty());
  CHECK(found.name == "fitted");
  CHECK(found.fabric == "nvlink");
  CHECK(found.duty == "sustained");
  CHECK(found.default_transport == "nccl");
  CHECK(found.multiprocessors->value == 128);
  CHECK(found.peak_rate == base_machine().peak_rate);
  CHECK(found.gemm_rate->value == Approx(500e12).epsilon(1e-4));
  CHECK(found.reorder->rate.value == Approx(3e12).epsilon(1e-4));
  CHECK(found.reorder->launch.value == Approx(5e-6).epsilon(1e-3));
  CHECK(found.gap->value == Approx(-1e-6).epsilon(1e-3));
  CHECK(found.gemm.at(0).points.size() == 48);
  CHECK(gemm_time(found, {8192, 6144, 4096, true})->seconds ==
        Approx(gemm_time(truth, {8192, 6144, 4096, true})->seconds).epsilon(1e-5));
  for (const auto* transport : {"nccl", "copy_engine"})
    for (const ExchangePoint& point : find_curve(found, transport, 2)->points)
      CHECK(point.seconds == Approx(exchange_time(truth, transport, 2, point.bytes)->seconds).epsilon(1e-4));
  CHECK(found.gap->source == "calibrated from run.h5");
  CHECK(found.gap->date == "2026-11-30");
}

TEST_CASE("what a run cannot tell stays as the base has it, and is not mixed with what it tells") {
  const Machine found = calibrated({run_on(true_machine())});
  CHECK(found.launch == base_machine().launch);
  CHECK(found.barrier == base_machine().barrier);
  REQUIRE(find_curve(found, "nccl", 8) != nullptr);
  CHECK(find_curve(found, "nccl", 8)->source == "a data sheet");
  CHECK(find_curve(found, "nccl", 2)->source != "a data sheet");
}

TEST_CASE("a calibrated machine predicts the cells that it was made from, and knows how well it does others") {
  const auto record = run_on(true_machine());
  const Machine found = calibrated({record});
  REQUIRE(found.cells.size() == 12);
  for (const CalibratedCell& cell : found.cells) {
    CHECK(cell.file == "run.h5");
    REQUIRE(cell.held_out.size() == 2);
    for (const auto& [baseline, error] : cell.held_out) CHECK(std::abs(error) < 0.05);
    const auto prediction = predict(found, {.problem = cell.problem,
                                            .operations = {"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"},
                                            .arms = {"native_packed", "fused"}});
    REQUIRE(prediction);
    CHECK(prediction->coverage.inside);
    CHECK(prediction->deltas.at(0).low_seconds);
  }
}

TEST_CASE("contention factors are found again, with noise too") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> ratio(0.2, 6), noise(0.99, 1.01);
  for (const auto seconds : {push_seconds, pull_seconds}) {
    std::vector<FusedSample> samples;
    for (int i = 0; i < 200; ++i) {
      const FusedWork work{1e-3, 1e-3 * ratio(random), 8, 0.5};
      FusedWork slowed = work;
      slowed.compute *= 1.12, slowed.link *= 1.4;
      samples.push_back({work, 3e-6, (seconds(slowed) + 3e-6) * noise(random)});
    }
    const Factors found = fit_contention(samples, seconds);
    CHECK(found.compute == Approx(1.12).epsilon(0.02));
    CHECK(found.link == Approx(1.4).epsilon(0.02));
  }
}

TEST_CASE("two samples that many factors would meet end near 1, not in extreme ones") {
  // 3 % apart, as GEMMs are from run to run: compute 0.5 with link 3.9 would meet both.
  const std::vector<FusedSample> samples{{{1141e-6, 277e-6, 20, 0.5}, 0, 1184e-6},
                                         {{929e-6, 222e-6, 16, 0.5}, 0, 910e-6}};
  const Factors found = fit_contention(samples, push_seconds);
  CHECK(found.compute == Approx(1).margin(0.05));
  CHECK(found.link == Approx(1).margin(0.3));
}

TEST_CASE("figures have six digits, and curves never fall") {
  CHECK(rounded(0.000123456789) == 0.000123457);
  CHECK(rounded(-1.23456789e12) == -1.23457e12);
  CHECK(rounded(0) == 0);
  auto record = run_on(true_machine());
  // The largest exchange of the small model becomes faster than smaller ones: pooled with them.
  auto& cell = record.cells.at(3);
  const std::size_t arm = 4;  // exchange_only
  for (std::size_t i = cell.index(0, arm, 0, 0, 0); i < cell.index(0, arm + 1, 0, 0, 0); ++i) cell.latency[i] = 1e-4;
  const Machine found = calibrated({record});
  CHECK(violations(found).empty());
}

TEST_CASE("files that say nothing about a machine are refused by name") {
  const auto refusal_of = [](core::Record record) {
    const auto answer = measurements({run_on(true_machine()), std::move(record)});
    REQUIRE_FALSE(answer);
    return answer.reason();
  };
  auto record = run_on(true_machine());
  record.path = "other.h5";
  record.source = "simulated";
  CHECK_THAT(refusal_of(record), ContainsSubstring("other.h5") && ContainsSubstring("a prediction is no measurement"));
  record.source = "measured", record.fabric = "emulated";
  CHECK_THAT(refusal_of(record), ContainsSubstring("other.h5") && ContainsSubstring("emulated"));
  record.fabric = "pcie";
  CHECK_THAT(refusal_of(record),
             ContainsSubstring("fabric run.h5 is 'nvlink', other.h5") && ContainsSubstring("'pcie'"));
  record.fabric = "nvlink";
  for (auto& cell : record.cells) cell.extra["duty"] = "spaced";
  CHECK_THAT(refusal_of(record), ContainsSubstring("duty"));
  auto first = run_on(true_machine());
  for (auto& cell : first.cells) cell.extra["devices"] = "NVIDIA H200, GPU-1, device 0; NVIDIA H200, GPU-2, device 1";
  auto second = run_on(true_machine());
  for (auto& cell : second.cells) cell.extra["devices"] = "NVIDIA B200, GPU-3, device 0; NVIDIA B200, GPU-4, device 1";
  CHECK_THAT(measurements({first, second}).reason(), ContainsSubstring("GPU run.h5 is 'NVIDIA H200'"));
}

TEST_CASE("cells without all bounds, of one rank, alone, or not measured are left out with a reason") {
  auto record = run_on(true_machine());
  record.cells[0].status = "failed", record.cells[0].reason = "out of memory";
  record.cells[1].extra["solo"] = std::int64_t{1};
  record.cells[2].arms[5] = "control";
  record.cells[3].latency[record.cells[3].index(2, 3, 1, 0, 0)] = std::nan("");
  record.cells[4].order = {0, 0};
  record.cells[5].cp = 1;
  record.cells[6].fault = "unit 'usec?'";
  record.cells[7].extra["cache"] = "cold";
  record.cells[8].extra["cadence"] = "back_to_back";
  record.cells[9].extra["push"] = "c128x256/N8";
  const Measurements found = sound({record});
  CHECK(found.cells.size() == 2);
  REQUIRE(found.skipped.size() == 10);
  CHECK_THAT(found.skipped[7], ContainsSubstring("cold caches"));
  CHECK_THAT(found.skipped[8], ContainsSubstring("back to back"));
  CHECK_THAT(found.skipped[9], ContainsSubstring("push c128x256/N8"));
  CHECK_THAT(found.skipped[0], ContainsSubstring("run.h5 small4096: failed: out of memory"));
  CHECK_THAT(found.skipped[1], ContainsSubstring("alone"));
  CHECK_THAT(found.skipped[2], ContainsSubstring("reorder_only"));
  CHECK_THAT(found.skipped[3], ContainsSubstring("gemm_only"));
  CHECK_THAT(found.skipped[4], ContainsSubstring("0 reversed"));
  CHECK_THAT(found.skipped[5], ContainsSubstring("one rank"));
  CHECK_THAT(found.skipped[6], ContainsSubstring("usec?"));

  for (auto& cell : record.cells) cell.arms[3] = "other";
  CHECK_THAT(measurements({record}).reason(), ContainsSubstring("12 skipped") && ContainsSubstring("bounds: true"));
}

TEST_CASE("a run that named no transport gives curves of its backend") {
  auto record = run_on(true_machine());
  for (auto& cell : record.cells) cell.extra.erase("qkv_fwd_native_packed_exchange");
  const auto found = calibrate(sound({record}), std::nullopt, "host", "");
  REQUIRE(found);
  CHECK(found->default_transport == "backend");
  CHECK(find_curve(*found, "backend", 2) != nullptr);
  CHECK(find_curve(*found, "nccl", 2) == nullptr);
}

TEST_CASE("a base of another fabric is refused") {
  Machine base = base_machine();
  base.fabric = "pcie";
  const auto answer = calibrate(sound({run_on(true_machine())}), base, "x", "");
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.reason(), ContainsSubstring("over nvlink, machine 'base' is of pcie"));
}

TEST_CASE("a base of other hardware is refused") {
  Machine base = base_machine();
  base.multiprocessors = Count{148, "a test", "2026-11"};
  const auto answer = calibrate(sound({run_on(true_machine())}), base, "x", "");
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.reason(), ContainsSubstring("measured on 128 multiprocessors, machine 'base' has 148"));
}

TEST_CASE("a run without a fused arm calibrates a machine that decides nothing") {
  auto record = run_on(true_machine());
  for (auto& cell : record.cells) cell.arms[2] = "native_chunked";
  const Machine found = calibrated({record});
  CHECK_FALSE(found.push);
  for (const CalibratedCell& cell : found.cells) CHECK(cell.held_out.empty());
}
