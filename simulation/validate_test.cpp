#include <megaup/simulation/validate.hpp>

#include <cmath>
#include <filesystem>
#include <set>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/record.hpp>
#include <megaup/simulation/calibrate.hpp>
#include <megaup/simulation/test_support/runs.hpp>

using namespace megaup;
using namespace megaup::simulation;
using namespace megaup::simulation::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

Validation sound(const std::vector<core::Record>& records, const std::optional<Machine>& base) {
  const auto taken = measurements(records);
  REQUIRE(taken);
  auto answer = validate(*taken, base);
  REQUIRE(answer);
  return *answer;
}

HeldOut held_out(double measured, double predicted) { return {"model a", 0, "native_packed", measured, predicted, 10}; }

/// The shipped files of one kind: two H200 over NVLink, sustained, interleaved.
std::vector<core::Record> shipped() {
  std::vector<core::Record> records;
  for (const auto* name : {"interleaved", "sizes", "long", "large"})
    records.push_back(core::read_record(std::string("docs/results/h200-x2-") + name + ".h5"));
  return records;
}

}  // namespace

TEST_CASE("the summary is of absolute errors relative to the baseline, the bias of signed ones") {
  // Errors of +1 %, -2 %, +3 %, -4 %, +12 %.
  const std::vector<HeldOut> all{held_out(1, 1.1), held_out(1, 0.8), held_out(1, 1.3), held_out(1, 0.6),
                                 held_out(1, 2.2)};
  const ErrorSummary found = summary(all);
  CHECK(found.count == 5);
  CHECK(found.median == Approx(0.03));
  CHECK(found.p90 == Approx(0.12));
  CHECK(found.worst == Approx(0.12));
  CHECK(found.bias == Approx(0.02));
  CHECK(summary({}).count == 0);
}

TEST_CASE("the confusion table counts measured by predicted") {
  const Confusion table =
      confusion({held_out(1, 2), held_out(1, 1), held_out(1, -1), held_out(-1, 1), held_out(-1, -2), held_out(0, 0)});
  CHECK(table[0][0] == 2);
  CHECK(table[0][1] == 1);
  CHECK(table[1][0] == 1);
  CHECK(table[1][1] == 2);
}

TEST_CASE("each model is predicted by a machine that did not see it") {
  // One model's fused arm is 20 % slower than the machine would have it: its own error shows all of that, because nothing of it was fitted.
  auto record = run_on(plain_machine());
  for (auto& cell : record.cells)
    if (cell.model == "large")
      for (std::size_t op = 0; op < 4; ++op)
        for (std::size_t i = cell.index(op, 2, 0, 0, 0); i < cell.index(op, 3, 0, 0, 0); ++i) cell.latency[i] *= 1.2;
  const Validation found = sound({record}, plain_machine());
  REQUIRE(found.models.size() == 24);
  std::set<std::string> groups;
  for (const HeldOut& one : found.models) {
    groups.insert(one.left_out);
    CAPTURE(one.left_out, one.baseline, one.error());
    if (one.left_out == "model large") {
      const double fused = one.baseline_seconds - one.measured_seconds;  // 0.2 / 1.2 of it is the slowness
      CHECK(one.error() == Approx(fused / 6 / one.baseline_seconds).margin(0.02));
    }
  }
  CHECK(groups == std::set<std::string>{"model small", "model middle", "model large"});
  CHECK(found.cps.empty());
  REQUIRE(found.notes.size() == 1);
  CHECK_THAT(found.notes[0], ContainsSubstring("every cell has CP 2"));
}

TEST_CASE("a CP that was left out is predicted with the base's curve of it, or noted as impossible") {
  Machine truth = plain_machine();
  truth.exchange.push_back({"nccl", 4, "a test", "2026-11", truth.exchange[0].points});
  truth.exchange.push_back({"copy_engine", 4, "a test", "2026-11", truth.exchange[1].points});
  auto record = run_on(truth);
  for (const Model& model : three_models()) record.cells.push_back(cell_on(truth, model, 2048, 4));
  const Validation found = sound({record}, truth);
  CHECK(found.cps.size() == 30);
  CHECK(summary(found.cps).worst < 0.02);
  const Validation without = sound({record}, std::nullopt);
  CHECK(without.cps.empty());
  REQUIRE_FALSE(without.notes.empty());
  CHECK_THAT(without.notes.front(), ContainsSubstring("without CP 2") && ContainsSubstring("no exchange curve"));
}

TEST_CASE("one model, or no fused arm, cannot be validated") {
  auto record = run_on(plain_machine());
  for (auto& cell : record.cells) cell.model = "one";
  CHECK_THAT(validate(*measurements({record}), plain_machine()).reason(), ContainsSubstring("1 model"));
  record = run_on(plain_machine());
  for (auto& cell : record.cells) cell.arms[2] = "native_chunked";
  CHECK_THAT(validate(*measurements({record}), plain_machine()).reason(), ContainsSubstring("fused"));
}

TEST_CASE(
    "Delta of the shipped runs over NVLink is predicted within a few percent of the baseline by the other models") {
  const auto taken = measurements(shipped());
  REQUIRE(taken);
  CHECK(taken->cells.size() == 23);
  const auto found = validate(*taken, std::nullopt);
  REQUIRE(found);
  const ErrorSummary errors = summary(found->models);
  CHECK(errors.count == 52);
  CHECK(errors.median < 0.015);
  CHECK(errors.p90 < 0.03);
  CHECK(errors.worst < 0.06);
  CHECK(std::abs(errors.bias) < 0.01);
  CHECK(confusion(found->models)[0][0] ==
        52);  // every measured Delta is positive: the table cannot show a wrong "saves"
}

TEST_CASE("intervals of a machine calibrated from the shipped runs hold what was measured") {
  const auto taken = measurements(shipped());
  REQUIRE(taken);
  const auto machine = calibrate(*taken, std::nullopt, "two H200", "");
  REQUIRE(machine);
  CHECK(violations(*machine).empty());
  const auto found = validate(*taken, std::nullopt);
  std::size_t inside = 0, all = 0;
  for (const MeasuredCell& cell : taken->cells) {
    const auto prediction = predict(*machine, {.problem = cell.problem,
                                               .operations = {"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"},
                                               .arms = {"native_packed", "native_packed_ce", "fused"}});
    REQUIRE(prediction);
    for (const PredictedDelta& delta : prediction->deltas) {
      double measured = 0;
      for (const core::OperationForm& op : core::kOperationForms)
        measured += *cell.time(op.name, delta.baseline) - *cell.time(op.name, "fused");
      REQUIRE(delta.low_seconds);
      inside += *delta.low_seconds <= measured && measured <= *delta.high_seconds ? 1 : 0;
      ++all;
    }
  }
  CHECK(all == 46);
  CHECK(inside >= 42);
}

TEST_CASE("runs with one GPU for all ranks cannot be mixed with those over a link") {
  auto records = shipped();
  records.push_back(core::read_record("docs/results/h200-solo-blocked-llama.h5"));
  CHECK_THAT(measurements(records).reason(),
             ContainsSubstring("h200-solo-blocked-llama.h5") && ContainsSubstring("emulated"));
}
