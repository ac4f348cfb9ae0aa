#include <megaup/simulation/predict.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <megaup/simulation/coverage.hpp>
#include <megaup/simulation/delta_interval.hpp>
#include <megaup/simulation/exchange_time.hpp>
#include <megaup/simulation/floor.hpp>
#include <megaup/simulation/fused_arm.hpp>
#include <megaup/simulation/gemm_time.hpp>
#include <megaup/simulation/native_arms.hpp>
#include <megaup/simulation/reorder_time.hpp>

namespace megaup::simulation {
namespace {

using core::OperationForm;

constexpr std::string_view kSequence = "sequence", kControl = "control";
constexpr std::array<ArmModel, 12> kArmModels{{{"native_packed", false},
                                               {"native_packed_window", false},
                                               {"native_packed_zero_cta", false},
                                               {"native_packed_ce", false},
                                               {"native_pipelined", false},
                                               {"native_pipelined_ce", false},
                                               {"native_chunked", false},
                                               {"native_chunked_ce", false},
                                               {"fused", false},
                                               {"gemm_only", true},
                                               {"exchange_only", true},
                                               {"reorder_only", true}}};

Answer<Estimate> both_passes(const Machine& machine, double bytes) {
  auto pass = reorder_time(machine, bytes);
  if (pass) pass->seconds *= 2;
  return pass;
}

/// By the arm's model, whatever the floor.
Answer<Estimate> modelled(const Machine& machine, const OperationForm& op, const core::Problem& problem,
                          std::string_view arm) {
  const auto bytes = static_cast<double>(core::exchange_bytes(op, problem));
  if (arm == "gemm_only") return gemm_time(machine, core::gemm_shape(op, problem));
  if (arm == "exchange_only") return exchange_time(machine, machine.default_transport, problem.P, bytes);
  if (arm == "reorder_only") return both_passes(machine, bytes);
  if (arm == "fused") return fused_time(machine, op, problem);
  if (const auto native = native_arm(machine, arm)) return native_time(machine, *native, op, problem);
  return Cannot{fmt::format("there is no model of arm '{}'", arm)};
}

double floor_seconds(const Machine& machine, const OperationForm& op, const core::Problem& problem,
                     std::string_view arm) {
  const Floor floor = floor_of(machine, op, problem);
  if (arm == "gemm_only") return floor.gemm;
  if (arm == "exchange_only") return floor.exchange;
  return arm == "reorder_only" ? 0 : floor.whole();
}

PredictedTime one_operation(const Machine& machine, const OperationForm& op, const core::Problem& problem,
                            std::string_view arm) {
  PredictedTime out{std::string(op.name), std::string(arm), modelled(machine, op, problem, arm),
                    floor_seconds(machine, op, problem, arm)};
  if (out.time && !std::isfinite(std::max(out.time->seconds, out.floor_seconds)))
    out.time = Cannot{fmt::format("{} is not a finite time: the machine's figures are out of proportion", arm)};
  if (out.time && out.time->seconds < out.floor_seconds) {
    out.time->seconds = out.floor_seconds;
    out.time->rule = fmt::format("the floor, above what the model gives: {}", out.time->rule);
  }
  return out;
}

/// The four operations one after the other.
PredictedTime whole_sequence(const Machine& machine, const core::Problem& problem, std::string_view arm) {
  PredictedTime out{std::string(kSequence), std::string(arm), Estimate{0, "sum of the four operations"}, 0};
  for (const OperationForm& op : core::kOperationForms) {
    const PredictedTime part = one_operation(machine, op, problem, arm);
    out.floor_seconds += part.floor_seconds;
    if (!part.time) out.time = Cannot{part.time.reason()};
    if (out.time && part.time) out.time->seconds += part.time->seconds;
  }
  return out;
}

PredictedTime predicted_time(const Machine& machine, const Question& question, const std::string& operation,
                             const std::string& arm) {
  const std::string_view model = arm == kControl ? std::string_view(question.arms.front()) : arm;
  const OperationForm* const op = core::find_form(operation);
  PredictedTime out =
      op != nullptr ? one_operation(machine, *op, question.problem, model)
      : operation == kSequence
          ? whole_sequence(machine, question.problem, model)
          : PredictedTime{operation, arm, Cannot{fmt::format("there is no operation '{}'", operation)}, 0};
  out.arm = arm;
  return out;
}

/// Sum over the four operations; nothing where one has no time.
std::optional<double> sum_of(const CellPrediction& prediction, std::string_view arm) {
  double sum = 0;
  std::size_t found = 0;
  for (const PredictedTime& time : prediction.times)
    if (time.arm == arm && time.time && core::find_form(time.operation) != nullptr) {
      sum += time.time->seconds;
      ++found;
    }
  if (found == core::kOperationForms.size()) return sum;
  return std::nullopt;
}

void add_deltas(const Machine& machine, const Question& question, CellPrediction& prediction) {
  const auto candidate = sum_of(prediction, question.candidate);
  if (!candidate) return;
  for (const std::string& arm : question.arms) {
    if (arm == question.candidate || !native_arm(machine, arm)) continue;
    const auto baseline = sum_of(prediction, arm);
    if (!baseline) continue;
    PredictedDelta delta{arm, question.candidate, *baseline, *candidate, *baseline - *candidate};
    judge(machine, prediction.coverage, delta);
    prediction.deltas.push_back(std::move(delta));
  }
}

}  // namespace

std::string_view name(PredictedVerdict verdict) {
  switch (verdict) {
    case PredictedVerdict::pays: return "pays";
    case PredictedVerdict::does_not_pay: return "does not pay";
    case PredictedVerdict::undecided: break;
  }
  return "undecided";
}

std::span<const ArmModel> arm_models() { return kArmModels; }

Answer<CellPrediction> predict(const Machine& machine, const Question& question) {
  if (const auto reason = core::refusal(question.problem)) return Cannot{*reason};
  CellPrediction prediction;
  prediction.coverage = coverage_of(machine, question);
  for (const std::string& operation : question.operations)
    for (const std::string& arm : question.arms)
      prediction.times.push_back(predicted_time(machine, question, operation, arm));
  if (prediction.times.empty()) return Cannot{"no operation or no arm was asked for"};
  if (std::ranges::none_of(prediction.times, [](const PredictedTime& time) { return bool(time.time); }))
    return Cannot{prediction.times.front().time.reason()};
  add_deltas(machine, question, prediction);
  return prediction;
}

std::vector<std::string> not_modelled() {
  return {"other traffic on the links and on the host",
          "power capping beyond what the measured cells had: a hotter or cooler GPU multiplies slower or faster",
          "stragglers: every rank is taken as equally fast", "the cost of first calls, graph capture and set-up",
          "attention and everything else between the four operations"};
}

std::string transport_of(const Machine& machine, std::string_view arm) {
  const auto native = native_arm(machine, arm);
  return native ? native->transport : machine.default_transport;
}

}  // namespace megaup::simulation
