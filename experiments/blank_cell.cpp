#include <limits>

#include <megaup/experiments/device_timing.hpp>
#include <megaup/experiments/measure.hpp>

namespace megaup::experiments {

core::CellRecord blank_cell(const Plan& plan, const Cell& cell, int ranks) {
  const auto& p = cell.problem;
  core::CellRecord record;
  record.id = cell.id;
  record.model = cell.model;
  record.hidden = p.H, record.query_heads = p.Hq, record.kv_heads = p.Hk, record.head_dim = p.D;
  record.cp = p.P, record.batch = p.B, record.tokens_per_rank = cell.tokens_per_rank;
  record.format = core::name(p.format), record.sequence_order = core::name(p.order),
  record.qkv_weight = core::name(p.qkv_weight);
  record.extra["candidate"] = plan.spec.arms.candidate;
  record.extra["kv_replication"] = std::int64_t{p.kv_replication};
  record.extra["cadence"] = std::string(name(plan.spec.measure.cadence));
  record.extra["cache"] = std::string(name(plan.spec.measure.cache));
  record.extra["duty"] = std::string(name(plan.spec.measure.duty));
  record.extra["device"] = std::string(name(plan.spec.backend.device));
  if (plan.spec.backend.device == DeviceKind::cuda) {
    record.extra["push"] = text(plan.spec.backend.push);
    record.extra["pull"] = text(plan.spec.backend.pull);
    if (plan.spec.measure.duty == ops::Regime::sustained) record.extra["heat_s"] = DeviceTiming::kHeatSeconds;
  }
  record.extra["solo"] = std::int64_t{plan.spec.backend.solo};
  record.extra["validate"] = std::string(name(plan.spec.validate.mode));
  record.extra["warmup"] = plan.spec.measure.warmup;
  record.extra["schedule"] = std::string(name(plan.spec.measure.schedule));
  record.extra["burn_in_pairs"] = std::int64_t{plan.spec.measure.burn_in};
  record.extra["identity"] = cell.identity;
  record.operations = plan.spec.operations;
  record.arms = plan.spec.arms.all();
  record.order = block_kinds(plan.spec);
  record.observations = plan.spec.measure.observations;
  record.ranks = ranks;
  const std::size_t pairs = record.operations.size() * record.arms.size();
  const std::size_t blocks = pairs * record.order.size();
  record.latency.assign(blocks * static_cast<std::size_t>(record.observations) * static_cast<std::size_t>(ranks),
                        std::numeric_limits<double>::quiet_NaN());
  record.started.assign(blocks, std::numeric_limits<double>::quiet_NaN());
  for (auto* errors : {&record.error_frobenius, &record.error_max, &record.error_bound})
    errors->assign(pairs, std::numeric_limits<double>::quiet_NaN());
  return record;
}

int timed_ranks(const Plan& plan, int ranks) { return plan.spec.backend.solo ? 1 : ranks; }

}  // namespace megaup::experiments
