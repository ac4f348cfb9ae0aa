#include <megaup/simulation/predict.hpp>

#include <cmath>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/simulation/native_arms.hpp>
#include <megaup/simulation/test_support/machines.hpp>

using namespace megaup;
using namespace megaup::simulation;
using namespace megaup::simulation::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

Question question(std::vector<std::string> arms = {"native_packed", "fused"}) {
  return {.problem = llama(), .operations = {"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"}, .arms = std::move(arms)};
}

/// plain_machine with three measured models, apart by their KV heads, whose held-out errors against native_packed are
/// all `error`.
Machine measured_machine(double error) {
  Machine machine = plain_machine();
  for (const auto& [model, kv_heads] : {std::pair("a", 8), {"b", 16}, {"c", 4}}) {
    core::Problem problem = llama();
    problem.Hk = kv_heads;
    machine.cells.push_back({"run.h5", "cell", model, problem, {"native_packed", "fused"}, {{"native_packed", error}}});
  }
  return machine;
}

CellPrediction sound(const Machine& machine, const Question& asked) {
  auto answer = predict(machine, asked);
  REQUIRE(answer);
  return *answer;
}

}  // namespace

TEST_CASE("a cell's Delta is the baseline's four operations less the candidate's") {
  const auto cell = sound(plain_machine(), question({"native_packed", "native_packed_ce", "fused", "gemm_only"}));
  REQUIRE(cell.times.size() == 16);
  REQUIRE(cell.deltas.size() == 2);
  for (std::size_t baseline : {0U, 1U}) {
    double native = 0, fused = 0;
    for (std::size_t op = 0; op < 4; ++op) {
      native += cell.at(op, baseline, 4).time->seconds;
      fused += cell.at(op, 2, 4).time->seconds;
    }
    CHECK(cell.deltas[baseline].baseline_seconds == Approx(native));
    CHECK(cell.deltas[baseline].candidate_seconds == Approx(fused));
    CHECK(cell.deltas[baseline].delta_seconds == Approx(native - fused));
  }
  CHECK(cell.deltas[1].baseline == "native_packed_ce");
}

TEST_CASE("the sequence is its four operations, and control is the first arm once more") {
  Question asked = question({"native_packed", "fused", "control"});
  asked.operations.push_back("sequence");
  const auto cell = sound(plain_machine(), asked);
  double sum = 0;
  for (std::size_t op = 0; op < 4; ++op) {
    sum += cell.at(op, 0, 3).time->seconds;
    CHECK(cell.at(op, 2, 3).time->seconds == cell.at(op, 0, 3).time->seconds);
  }
  CHECK(cell.at(4, 0, 3).time->seconds == Approx(sum));
  CHECK(cell.at(4, 2, 3).arm == "control");
  REQUIRE(cell.deltas.size() == 1);  // control is no baseline, and the sequence is not counted twice
  CHECK(cell.deltas[0].baseline_seconds == Approx(sum));
}

TEST_CASE("no prediction is below the floor, which is FLOP over peak or link bytes over peak link rate") {
  Machine machine = plain_machine();
  machine.peak_rate = figure(1e12), machine.peak_link_rate = figure(1e9);  // slower than everything that was achieved
  const auto cell = sound(machine, question({"native_packed", "fused", "gemm_only", "exchange_only", "reorder_only"}));
  const double gemm = 2.0 * 8192 * 4096 * 4096 / 1e12, exchange = 0.5 * 2.0 * 8192 * 4096 / 1e9;
  for (std::size_t arm : {0U, 1U}) {
    CHECK(cell.at(1, arm, 5).time->seconds == Approx(std::max(gemm, exchange)));
    CHECK_THAT(cell.at(1, arm, 5).time->rule, ContainsSubstring("floor"));
  }
  CHECK(cell.at(1, 2, 5).time->seconds == Approx(gemm));
  CHECK(cell.at(1, 3, 5).time->seconds == Approx(exchange));
  CHECK(cell.at(1, 4, 5).time->seconds == Approx(2 * (5e-6 + 4.0 * 8192 * 4096 / 3e12)));
  for (const PredictedTime& time : cell.times) CHECK(time.time->seconds >= time.floor_seconds);
}

TEST_CASE("an arm that the machine cannot predict has its reason, and no Delta") {
  Machine machine = plain_machine();
  machine.push.reset();
  const auto cell = sound(machine, question({"native_packed", "native_packed_window", "fused", "made_up"}));
  CHECK(cell.at(0, 0, 4).time);
  CHECK_THAT(cell.at(0, 1, 4).time.reason(), ContainsSubstring("nccl_window among 2 ranks"));
  CHECK_THAT(cell.at(0, 2, 4).time.reason(), ContainsSubstring("push"));
  CHECK(cell.at(1, 2, 4).time);
  CHECK_THAT(cell.at(0, 3, 4).time.reason(), ContainsSubstring("no model of arm 'made_up'"));
  CHECK(cell.deltas.empty());
}

TEST_CASE("a cell that nothing can predict, or nobody may run, is refused with the reason") {
  Question asked = question();
  asked.problem.P = 3;
  CHECK_THAT(predict(plain_machine(), asked).reason(), ContainsSubstring("cp 3"));
  asked = question({"fused"});
  Machine machine = plain_machine();
  machine.push.reset(), machine.pull.reset();
  CHECK_THAT(predict(machine, asked).reason(), ContainsSubstring("contention"));
  asked.arms.clear();
  CHECK_THAT(predict(machine, asked).reason(), ContainsSubstring("no arm"));
}

TEST_CASE("the interval is Student's t times the held-out errors, and the verdict follows it") {
  const auto cell = sound(measured_machine(0.01), question());
  CHECK(cell.coverage.inside);
  CHECK(cell.coverage.distance == 0);
  CHECK_THAT(cell.coverage.nearest, ContainsSubstring("CP 2, M 8192 (run.h5)"));
  const PredictedDelta& delta = cell.deltas.at(0);
  const double half = 4.302652729911275 * 0.01 * delta.baseline_seconds;  // t of 0.975 with 2 degrees of freedom
  CHECK(*delta.low_seconds == Approx(delta.delta_seconds - half));
  CHECK(*delta.high_seconds == Approx(delta.delta_seconds + half));
  CHECK(delta.delta_seconds > half);
  CHECK(delta.verdict == PredictedVerdict::pays);
  CHECK_THAT(delta.reason, ContainsSubstring("above 0"));

  CHECK(sound(measured_machine(0.5), question()).deltas[0].verdict == PredictedVerdict::undecided);

  Machine slow = measured_machine(0.001);
  slow.push->compute = slow.pull->compute = figure(3);
  CHECK(sound(slow, question()).deltas[0].verdict == PredictedVerdict::does_not_pay);
}

TEST_CASE("without enough held-out errors, or outside the calibrated range, nothing is decided") {
  Machine machine = measured_machine(0.0001);
  machine.cells[2].problem = machine.cells[1].problem;  // the same model under another name
  const auto two_models = sound(machine, question()).deltas[0];
  CHECK_FALSE(two_models.low_seconds);
  CHECK(two_models.verdict == PredictedVerdict::undecided);
  CHECK_THAT(two_models.reason, ContainsSubstring("of 2 models, at least 3"));

  struct Outside {
    const char* says;
    void (*change)(Question&);
  };
  for (const auto& [says, change] :
       {Outside{"m of qkv_fwd is 16384, measured 8192 to 8192", [](Question& q) { q.problem.s *= 2; }},
        Outside{"duty spaced, measured sustained", [](Question& q) { q.duty = "spaced"; }},
        Outside{"head_dim 64 was not measured",
                [](Question& q) { q.problem.D = 64, q.problem.Hq = 64, q.problem.Hk = 16; }},
        Outside{"schedule blocked, measured interleaved", [](Question& q) { q.schedule = "blocked"; }},
        Outside{"format bshd was not measured", [](Question& q) { q.problem.format = core::ActivationFormat::bshd; }},
        Outside{"sequence order dual_chunk", [](Question& q) { q.problem.order = core::SequenceOrder::dual_chunk; }},
        Outside{"n of out_fwd is 8192, measured 4096 to 4096", [](Question& q) { q.problem.H = 8192; }}}) {
    Question asked = question();
    change(asked);
    const auto cell = sound(measured_machine(0.0001), asked);
    CAPTURE(says);
    CHECK_FALSE(cell.coverage.inside);
    REQUIRE_FALSE(cell.coverage.outside.empty());
    CHECK_THAT(cell.coverage.outside.front(), ContainsSubstring(says));
    CHECK(cell.deltas.at(0).verdict == PredictedVerdict::undecided);
    CHECK_FALSE(cell.deltas[0].low_seconds);
  }
  Machine exact = measured_machine(0);
  CHECK_THAT(sound(exact, question()).deltas.at(0).reason, ContainsSubstring("which no measurement gives"));
  Question other = question({"native_packed", "native_packed_ce"});
  other.candidate = "native_packed_ce";
  CHECK_THAT(sound(measured_machine(0.0001), other).deltas.at(0).reason,
             ContainsSubstring("candidate native_packed_ce"));
  const auto unmeasured = sound(plain_machine(), question());
  CHECK_THAT(unmeasured.coverage.outside.at(0), ContainsSubstring("no measured cell"));
  CHECK(unmeasured.coverage.nearest.empty());
}

TEST_CASE("the list of arms and the model of each arm agree") {
  for (const ArmModel& arm : arm_models()) {
    CAPTURE(arm.name);
    Machine machine = plain_machine();
    for (const auto* transport : {"nccl_window", "nccl_zero_cta"})
      machine.exchange.push_back({transport, 2, "a test", "2026-11", {{1e6, 1e-5}}});
    const auto cell = sound(machine, question({std::string(arm.name)}));
    for (const PredictedTime& time : cell.times) CHECK(time.time);
    CHECK(arm.bound == arm.name.ends_with("_only"));
  }
  CHECK(transport_of(plain_machine(), "native_chunked_ce") == "copy_engine");
  CHECK(transport_of(plain_machine(), "exchange_only") == "nccl");
  CHECK_FALSE(not_modelled().empty());
}

TEST_CASE("within every range, but farther from all cells than held-out predictions reached, is outside") {
  Machine machine = measured_machine(0.01);
  for (const std::int64_t tokens : {1024, 65536})  // every size is now within its range
    for (CalibratedCell cell : measured_machine(0.01).cells) {
      cell.problem = llama(tokens);
      cell.problem.Hk = machine.cells[machine.cells.size() % 3].problem.Hk;
      machine.cells.push_back(cell);
    }
  CHECK(sound(machine, question()).coverage.inside);
  Question between = question();
  between.problem.s *= 3;  // 24576 rows: ln 3 from 8192, ln 2.7 from 65536, while models are ln 1.5 apart in n
  const auto cell = sound(machine, between);
  CHECK_FALSE(cell.coverage.inside);
  CHECK_THAT(cell.coverage.outside.at(0), ContainsSubstring("held-out predictions reached"));
  CHECK(cell.deltas.at(0).verdict == PredictedVerdict::undecided);
}

TEST_CASE("held-out errors belong to a transport") {
  Machine machine = measured_machine(0.01);
  for (CalibratedCell& cell : machine.cells) cell.held_out["native_packed_ce"] = 0.02;
  const Machine same = with_transport(machine, "nccl");
  CHECK(same == machine);
  const Machine copies = with_transport(machine, "copy_engine");
  const auto by_name = sound(machine, question({"native_packed_ce", "fused"})).deltas.at(0);
  const auto by_choice = sound(copies, question()).deltas.at(0);
  CHECK(*by_choice.low_seconds == *by_name.low_seconds);
  Machine other = with_transport(machine, "nccl_zero_cta");
  other.exchange.push_back({"nccl_zero_cta", 2, "a test", "2026-11", {{1e6, 10e-6}, {100e6, 200e-6}}});
  CHECK_FALSE(sound(other, question()).deltas.at(0).low_seconds);
}

TEST_CASE("a machine out of proportion gives no times") {
  Machine machine = plain_machine();
  machine.peak_link_rate = figure(1e-310), machine.link_rate = figure(1e-311);
  const auto answer = predict(machine, question());
  REQUIRE_FALSE(answer);
  CHECK_THAT(answer.reason(), ContainsSubstring("not a finite time"));
}
