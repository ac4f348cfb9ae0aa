#include <megaup/experiments/prediction.hpp>

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/hash.hpp>
#include <megaup/core/text.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/measure.hpp>
#include <megaup/ops/a2a_gemm/pull_map.hpp>
#include <megaup/ops/gemm_a2a/push_map.hpp>
#include <megaup/simulation/native_arms.hpp>

namespace megaup::experiments {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Why `fused` does not run in this cell, whatever a model of its time says. GPUs have a fabric of their own; the arms of
/// hosts take every shape.
core::Reason no_fused(const core::Problem& problem, const simulation::Machine& machine) {
  if (machine.fabric != "nvlink" && machine.fabric != "pcie") return {};
  for (const auto& op : core::kOperationForms) {
    const bool push = op.kind == core::Kind::gemm_to_a2a;
    if (const auto why = push ? ops::push_refusal(problem, op.columns) : ops::pull_refusal(problem, op.columns))
      return fmt::format("the kernel of {} refuses this shape: {}", op.name, *why);
  }
  return {};
}

/// Sorts the arms into those with a time of every operation and the others.
void sort_arms(PredictedCell& cell, const Spec& spec, const simulation::Machine& machine) {
  const auto arms = spec.arms.all();
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    std::string why = arms[arm] == "fused" ? no_fused(cell.cell->problem, machine).value_or("") : "";
    for (std::size_t op = 0; op < spec.operations.size() && why.empty(); ++op)
      if (const auto& time = cell.prediction->at(op, arm, arms.size()).time; !time) why = time.reason();
    if (why.empty())
      cell.arms.push_back(arms[arm]);
    else
      cell.without.push_back(fmt::format("{}: {}", arms[arm], why));
  }
}

/// Why what is left of a cell compares nothing.
std::string no_comparison(const PredictedCell& cell, const Spec& spec) {
  const bool baseline =
      std::ranges::any_of(spec.arms.baselines, [&](const std::string& arm) { return contains(cell.arms, arm); });
  if (baseline && contains(cell.arms, spec.arms.candidate)) return {};
  return fmt::format("{}", fmt::join(cell.without, "; "));
}

PredictedCell predicted(const Cell& cell, const Spec& spec, const simulation::Machine& machine) {
  PredictedCell out{.cell = &cell, .refused = cell.refused};
  if (!out.refused.empty()) return out;
  auto answer = simulation::predict(machine, {.problem = cell.problem,
                                              .operations = spec.operations,
                                              .arms = spec.arms.all(),
                                              .candidate = spec.arms.candidate,
                                              .duty = std::string(name(spec.measure.duty)),
                                              .schedule = std::string(name(spec.measure.schedule))});
  if (!answer) {
    out.refused = answer.reason();
    return out;
  }
  out.prediction = std::move(*answer);
  sort_arms(out, spec, machine);
  out.refused = no_comparison(out, spec);
  return out;
}

/// The figures of Delta against each baseline. Their prefix keeps them apart from what a spec chose (analysis/cell_rows.cpp).
void add_deltas(core::Attributes& extra, const simulation::CellPrediction& prediction) {
  for (const auto& delta : prediction.deltas) {
    const auto key = [&](std::string_view what) { return fmt::format("predicted_{}_{}", delta.baseline, what); };
    extra[key("delta_s")] = delta.delta_seconds;
    extra[key("verdict")] = std::string(simulation::name(delta.verdict));
    extra[key("reason")] = delta.reason;
    extra[key("interval_basis")] = delta.interval_basis;
    if (delta.low_seconds) extra[key("interval_low_s")] = *delta.low_seconds;
    if (delta.high_seconds) extra[key("interval_high_s")] = *delta.high_seconds;
  }
}

void add_coverage(core::Attributes& extra, const simulation::Coverage& coverage) {
  extra["predicted_range"] = std::string(coverage.inside ? "inside" : "outside");
  extra["predicted_outside"] = fmt::format("{}", fmt::join(coverage.outside, "; "));
  extra["predicted_nearest"] = coverage.nearest;
  extra["predicted_nearest_distance"] = coverage.distance;
}

/// The same time in a block of either order, because a Delta needs both.
void add_times(core::CellRecord& record, const PredictedCell& cell, const Spec& spec) {
  record.arms = cell.arms;
  record.latency.clear();
  const auto arms = spec.arms.all();
  for (std::size_t op = 0; op < spec.operations.size(); ++op)
    for (std::size_t arm = 0; arm < arms.size(); ++arm) {
      if (!contains(cell.arms, arms[arm])) continue;
      const auto& time = cell.prediction->at(op, arm, arms.size());
      record.latency.insert(record.latency.end(), record.order.size(), time.time->seconds);
      record.extra[fmt::format("predicted_rule_{}_{}", spec.operations[op], arms[arm])] = time.time->rule;
      if (arms[arm] == spec.arms.candidate)
        record.extra[fmt::format("predicted_floor_s_{}", spec.operations[op])] = time.floor_seconds;
    }
}

core::CellRecord cell_record(const Plan& plan, const PredictedCell& cell) {
  core::CellRecord record = blank_cell(plan, *cell.cell, 1);
  for (const char* none : {"validate", "warmup", "burn_in_pairs", "heat_s", "push", "pull", "solo"})
    record.extra.erase(none);  // nothing was run
  for (auto* unknown : {&record.started, &record.error_frobenius, &record.error_max, &record.error_bound})
    unknown->clear();
  record.order = {0, 1};
  record.observations = record.ranks = 1;
  record.latency.assign(record.operations.size() * record.arms.size() * record.order.size(),
                        std::numeric_limits<double>::quiet_NaN());
  if (!cell.without.empty()) record.extra["predicted_without"] = fmt::format("{}", fmt::join(cell.without, "; "));
  if (!cell.refused.empty()) {
    record.status = "refused";
    record.reason = cell.refused;
    return record;
  }
  record.status = "measured";  // has its times; the file says that they are simulated
  add_coverage(record.extra, cell.prediction->coverage);
  add_deltas(record.extra, *cell.prediction);
  add_times(record, cell, plan.spec);
  return record;
}

}  // namespace

core::Reason unpredictable(const Spec& spec) {
  const auto refuse = [&](std::string_view what, std::string_view mend) {
    return fmt::format("{}: '{}' cannot be predicted: a machine file describes {}", spec.file, what, mend);
  };
  const Backend& backend = spec.backend;
  if (backend.solo) return refuse("solo: true", "ranks that all run, each on a device of its own: leave it out");
  if (backend.share_device) return refuse("share_device: true", "ranks with a device each: leave it out");
  for (const auto& [key, wish] : {std::pair("push", backend.push), std::pair("pull", backend.pull)})
    if (wish != ops::KernelWish{})
      return refuse(fmt::format("{}: {}", key, text(wish)), "the kernels that the planner chooses: write auto");
  if (spec.measure.cache == Cache::cold) return refuse("cache: cold", "warm caches: write warm");
  if (spec.measure.cadence == Cadence::back_to_back)
    return refuse("cadence: back_to_back", "ranks that start each operation together: write barrier");
  return {};
}

std::vector<PredictedCell> predict(const Plan& plan, const simulation::Machine& machine) {
  const bool automatic = plan.spec.backend.exchange == comm::Transport::automatic;
  const simulation::Machine asked = simulation::with_transport(
      machine, automatic ? machine.default_transport : std::string(name(plan.spec.backend.exchange)));
  std::vector<PredictedCell> cells;
  for (const Cell& cell : plan.cells) cells.push_back(predicted(cell, plan.spec, asked));
  return cells;
}

core::Record predicted_record(const Plan& plan, const MachineFile& machine, const std::vector<PredictedCell>& cells) {
  core::Record record;
  record.created = core::utc_now();
  record.megaup_version = core::version();
  record.git = core::git_commit();
  record.source = "simulated";
  record.fabric = machine.machine.fabric;
  record.extra["plan_sha256"] = plan.hash;
  record.environment = {{"host", "simulated"},
                        {"hardware", fmt::format("simulated: {}", machine.machine.name)},
                        {"machine", machine.machine.name},
                        {"machine_file", machine.file},
                        {"machine_sha256", core::sha256(machine.yaml)},
                        {"machine_yaml", machine.yaml},
                        {"not_modelled", fmt::format("{}", fmt::join(simulation::not_modelled(), "; "))}};
  record.spec_yaml = plan.spec.yaml;
  record.spec_resolved = plan.resolved;
  record.spec_sha256_yaml = plan.yaml_sha256;
  record.spec_sha256_resolved = plan.resolved_sha256;
  for (const PredictedCell& cell : cells) record.cells.push_back(cell_record(plan, cell));
  return record;
}

}  // namespace megaup::experiments
