#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <megaup/experiments/cell_values.hpp>
#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {
namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written

Json json(const CellValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Json json(const Model& model) {
  return {{"hidden", model.hidden},
          {"query_heads", model.query_heads},
          {"kv_heads", model.kv_heads},
          {"head_dim", model.head_dim}};
}

Json json(const CellValues& values) {
  Json out = Json::object();
  for (std::size_t i = 0; i < kCellKeys; ++i)
    if (values[i]) out[std::string(cell_keys()[i].name)] = json(*values[i]);
  return out;
}

Json json(const CellProduct& product) {
  Json out = Json::object();
  for (const Axis& axis : product.axes)
    for (const CellValue& value : axis.values) out[std::string(name(axis.key))].push_back(json(value));
  return out;
}

Json json(const std::vector<CellProduct>& products) {
  Json out = Json::array();
  for (const CellProduct& product : products) out.push_back(json(product));
  return out;
}

Json json(const Measure& m) {
  return {{"warmup", m.warmup},
          {"observations", m.observations},
          {"pairs", m.pairs},
          {"cadence", name(m.cadence)},
          {"duty", name(m.duty)},
          {"cache", name(m.cache)},
          {"cell_timeout_s", m.cell_timeout_s},
          {"burn_in", m.burn_in},
          {"schedule", name(m.schedule)},
          {"stop",
           m.stop ? Json{{"half_width_s", m.stop->half_width_s}, {"max_pairs", m.stop->max_pairs}} : Json(nullptr)}};
}

Json json(const RuleCount& rule) {
  return {{"rule", rule.rule}, {"line", rule.line}, {"cells", rule.cells}, {"duplicates", rule.duplicates}};
}

Json json(const Cell& cell, double gflops) {
  const core::Problem& p = cell.problem;
  Json out = {{"id", cell.id},
              {"identity", cell.identity},
              {"model", cell.model},
              {"hidden", p.H},
              {"query_heads", p.Hq},
              {"kv_heads", p.Hk},
              {"head_dim", p.D},
              {"cp", p.P},
              {"batch", p.B},
              {"tokens_per_rank", cell.tokens_per_rank > 0 ? Json(cell.tokens_per_rank) : Json(nullptr)},
              {"format", core::name(p.format)},
              {"sequence_order", core::name(p.order)},
              {"qkv_weight", core::name(p.qkv_weight)},
              {"kv_replication", p.kv_replication}};
  const bool runs = cell.refused.empty();
  out["refused"] = runs ? Json(nullptr) : Json(cell.refused);
  out["bytes_per_rank"] = runs ? Json(cell.bytes_per_rank) : Json(nullptr);
  out["least_bytes_per_rank"] = runs ? Json(cell.least_bytes_per_rank) : Json(nullptr);
  out["estimated_s"] = runs ? Json(cell.flop / (gflops * 1e9)) : Json(nullptr);
  return out;
}

}  // namespace

std::string resolved_json(const Spec& spec) {
  Json out;
  out["spec_version"] = 1;
  out["name"] = spec.name;
  out["models"] = Json::object();
  for (const auto& [model_name, model] : spec.models) out["models"][model_name] = json(model);
  out["workload"] = json(spec.workload);
  out["matrix"] = spec.matrix ? json(*spec.matrix) : Json::object();
  out["include"] = json(spec.include);
  out["exclude"] = json(spec.exclude);
  out["operations"] = spec.operations;
  out["arms"] = {{"baseline", spec.arms.baselines},
                 {"candidate", spec.arms.candidate},
                 {"control", spec.arms.control},
                 {"bounds", spec.arms.bounds}};
  out["measure"] = json(spec.measure);
  out["backend"] = {{"device", name(spec.backend.device)},
                    {"communicator", name(spec.backend.communicator)},
                    {"exchange", name(spec.backend.exchange)},
                    {"share_device", spec.backend.share_device},
                    {"solo", spec.backend.solo},
                    {"push", text(spec.backend.push)},
                    {"pull", text(spec.backend.pull)}};
  out["validate"] = {{"mode", name(spec.validate.mode)}, {"seed", spec.validate.seed}};
  return out.dump();
}

std::string plan_json(const Plan& plan, double gflops) {
  Json out;
  out["format"] = "megaup-plan";
  out["format_version"] = "1.0.0";
  out["name"] = plan.spec.name;
  out["hash"] = plan.hash;
  out["spec_sha256"] = {{"yaml", plan.yaml_sha256}, {"resolved", plan.resolved_sha256}};
  out["cells_total"] = plan.cells.size();
  out["cells_runnable"] = plan.n_runnable;
  out["cells_refused"] = plan.n_refused;
  out["rules"] = Json::array();
  for (const RuleCount& rule : plan.rules) out["rules"].push_back(json(rule));
  out["operations"] = plan.spec.operations;
  out["arms"] = plan.spec.arms.all();
  out["blocks"] = Json::array();
  for (const auto kind : block_kinds(plan.spec)) out["blocks"].push_back(kind == 0 ? "initial" : "reversed");
  out["assumed_gflops"] = gflops;
  out["cells"] = Json::array();
  for (const Cell& cell : plan.cells) out["cells"].push_back(json(cell, gflops));
  out["resolved"] = Json::parse(plan.resolved);
  return out.dump(2) + "\n";
}

}  // namespace megaup::experiments
