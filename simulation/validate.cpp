#include <megaup/simulation/validate.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <megaup/simulation/fit.hpp>
#include <megaup/simulation/native_arms.hpp>
#include <megaup/simulation/predict.hpp>

namespace megaup::simulation {
namespace {

/// Sum of an arm over the four operations; nothing where one was not taken.
std::optional<double> measured_sum(const MeasuredCell& cell, std::string_view arm) {
  double sum = 0;
  for (const core::OperationForm& op : core::kOperationForms) {
    const double* const seconds = cell.time(op.name, arm);
    if (seconds == nullptr) return std::nullopt;
    sum += *seconds;
  }
  return sum;
}

Question question_of(const MeasuredCell& cell) {
  Question question{.problem = cell.problem, .duty = cell.duty, .schedule = cell.schedule};
  for (const core::OperationForm& op : core::kOperationForms) question.operations.emplace_back(op.name);
  question.arms = cell.arms;
  return question;
}

/// Leaves out the cells of one value of `group` after the other.
class HoldOut {
 public:
  HoldOut(const Measurements& measurements, const std::optional<Machine>& base, Validation& validation)
      : measurements_(measurements), base_(base), validation_(validation) {}

  template <class Group>
  std::vector<HeldOut> run(std::string_view what, Group group) {
    std::vector<HeldOut> out;
    std::set<decltype(group(measurements_.cells.front()))> groups;
    for (const MeasuredCell& cell : measurements_.cells) groups.insert(group(cell));
    for (const auto& left_out : groups) {
      std::vector<const MeasuredCell*> rest;
      for (const MeasuredCell& cell : measurements_.cells)
        if (group(cell) != left_out) rest.push_back(&cell);
      const std::string label = fmt::format("{} {}", what, left_out);
      const auto machine = fit(rest, base_);
      if (!machine) {
        validation_.notes.push_back(fmt::format("without {}: {}", label, machine.reason()));
        continue;
      }
      for (std::size_t i = 0; i < measurements_.cells.size(); ++i)
        if (group(measurements_.cells[i]) == left_out) predict_cell(*machine, label, i, out);
    }
    return out;
  }

 private:
  void predict_cell(const Machine& machine, const std::string& label, std::size_t index, std::vector<HeldOut>& out) {
    const MeasuredCell& cell = measurements_.cells[index];
    const auto candidate = measured_sum(cell, kValidatedCandidate);
    if (!candidate) return;
    const auto prediction = predict(machine, question_of(cell));
    for (const std::string& arm : cell.arms) {
      const auto baseline = measured_sum(cell, arm);
      if (!native_arm(machine, arm) || !baseline) continue;
      const PredictedDelta* const predicted = prediction ? find_delta(*prediction, arm) : nullptr;
      if (predicted == nullptr)
        validation_.notes.push_back(fmt::format("without {}: {} of {} cannot be predicted: {}", label, arm, cell.cell,
                                                prediction ? reason_in(*prediction, arm) : prediction.reason()));
      else
        out.push_back({label, index, arm, *baseline - *candidate, predicted->delta_seconds, *baseline});
    }
  }

  static const PredictedDelta* find_delta(const CellPrediction& prediction, const std::string& baseline) {
    const auto found = std::ranges::find(prediction.deltas, baseline, &PredictedDelta::baseline);
    return found == prediction.deltas.end() ? nullptr : &*found;
  }

  static std::string reason_in(const CellPrediction& prediction, const std::string& arm) {
    for (const PredictedTime& time : prediction.times)
      if ((time.arm == arm || time.arm == kValidatedCandidate) && !time.time) return time.time.reason();
    return "an operation is missing";
  }

  const Measurements& measurements_;
  const std::optional<Machine>& base_;
  Validation& validation_;
};

/// Of absolute values in ascending order: the least one that `share` of them do not exceed.
double at_share(const std::vector<double>& ascending, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(ascending.size())));
  return ascending[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

ErrorSummary summary(const std::vector<HeldOut>& held_out) {
  ErrorSummary out{.count = held_out.size()};
  if (held_out.empty()) return out;
  std::vector<double> sizes;
  for (const HeldOut& one : held_out) {
    sizes.push_back(std::abs(one.error()));
    out.bias += one.error() / static_cast<double>(held_out.size());
  }
  std::ranges::sort(sizes);
  out.median = at_share(sizes, 0.5);
  out.p90 = at_share(sizes, 0.9);
  out.worst = sizes.back();
  return out;
}

Confusion confusion(const std::vector<HeldOut>& held_out) {
  Confusion out{};
  for (const HeldOut& one : held_out) ++out[one.measured_seconds > 0 ? 0 : 1][one.predicted_seconds > 0 ? 0 : 1];
  return out;
}

Answer<Validation> validate(const Measurements& measurements, const std::optional<Machine>& base) {
  std::set<std::string> models;
  std::set<std::int64_t> cps;
  bool fused = false;
  for (const MeasuredCell& cell : measurements.cells) {
    models.insert(cell.model);
    cps.insert(cell.problem.P);
    fused = fused || measured_sum(cell, kValidatedCandidate).has_value();
  }
  if (models.size() < 2)
    return Cannot{
        fmt::format("{} model was measured: with one left out nothing remains to predict it from; measure two or more",
                    models.size())};
  if (!fused) return Cannot{"no cell has the fused arm whole: there is no Delta to compare with"};
  Validation validation;
  HoldOut hold_out(measurements, base, validation);
  validation.models = hold_out.run("model", [](const MeasuredCell& cell) { return cell.model; });
  if (cps.size() > 1)
    validation.cps = hold_out.run("CP", [](const MeasuredCell& cell) { return cell.problem.P; });
  else
    validation.notes.push_back(
        fmt::format("every cell has CP {}: what the model says of other CPs was compared with nothing", *cps.begin()));
  return validation;
}

}  // namespace megaup::simulation
