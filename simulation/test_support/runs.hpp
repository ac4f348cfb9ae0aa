#pragma once

#include <string>
#include <utility>
#include <vector>

#include <megaup/core/test_support/records.hpp>
#include <megaup/simulation/predict.hpp>
#include <megaup/simulation/test_support/machines.hpp>

/// Files "measured" on a made-up machine, whose figures are therefore known.
namespace megaup::simulation::test_support {

inline const std::vector<std::string>& all_arms() {
  static const std::vector<std::string> arms{"native_packed", "native_packed_ce", "fused",
                                             "gemm_only",     "exchange_only",    "reorder_only"};
  return arms;
}

struct Model {
  std::string name;
  std::int64_t hidden, query_heads, kv_heads;
};

/// The cell with the times that the machine predicts.
inline core::CellRecord cell_on(const Machine& machine, const Model& model, std::int64_t tokens,
                                std::int64_t ranks = 2) {
  auto cell = core::test_support::measured_cell(model.name + std::to_string(tokens), all_arms(), {0, 1}, 4, ranks);
  cell.model = model.name;
  cell.hidden = model.hidden, cell.query_heads = model.query_heads, cell.kv_heads = model.kv_heads;
  cell.cp = ranks, cell.tokens_per_rank = tokens;
  cell.extra["duty"] = "sustained", cell.extra["schedule"] = "interleaved";
  cell.extra["qkv_fwd_native_packed_exchange"] = "nccl 2.28.3";
  cell.extra["qkv_fwd_fused_multiprocessors"] = std::int64_t{128};
  core::Problem problem;
  problem.P = ranks, problem.B = 8, problem.s = tokens / 8, problem.H = model.hidden;
  problem.Hq = model.query_heads, problem.Hk = model.kv_heads, problem.D = 128;
  const auto prediction = predict(machine, {.problem = problem, .operations = cell.operations, .arms = cell.arms});
  for (std::size_t op = 0; op < cell.operations.size(); ++op)
    for (std::size_t arm = 0; arm < cell.arms.size(); ++arm)
      for (std::size_t i = cell.index(op, arm, 0, 0, 0); i < cell.index(op, arm + 1, 0, 0, 0); ++i)
        cell.latency[i] = prediction->at(op, arm, cell.arms.size()).time->seconds;
  return cell;
}

inline core::Record record_of(std::vector<core::CellRecord> cells, std::string path = "some/folder/run.h5") {
  auto record = core::test_support::record_of(std::move(cells));
  record.path = std::move(path);
  record.fabric = "nvlink";
  record.created = "2026-11-30T01:02:03Z";
  return record;
}

inline const std::vector<Model>& three_models() {
  static const std::vector<Model> models{{"small", 4096, 32, 8}, {"middle", 6144, 48, 8}, {"large", 8192, 64, 8}};
  return models;
}

/// Three models of four sizes on one machine.
inline core::Record run_on(const Machine& machine) {
  std::vector<core::CellRecord> cells;
  for (const Model& model : three_models())
    for (const std::int64_t tokens : {4096, 8192, 16384, 32768}) cells.push_back(cell_on(machine, model, tokens));
  return record_of(std::move(cells));
}

}  // namespace megaup::simulation::test_support
