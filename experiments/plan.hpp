#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

/// One configuration: a model, a number of ranks and an amount of work, with everything that decides its layout.
struct Cell {
  std::string
      id;  ///< [A-Za-z0-9_.-]+: a readable part and a hash of the workload, the same in every spec that has this cell
  std::string model;  ///< the model's name, or the sizes spelled out
  core::Problem problem;
  std::int64_t tokens_per_rank = 0;  ///< M
  std::string
      identity;  ///< sha256 of workload, operations, arms, measure, backend and validate: what its numbers depend on
  std::string refused;              ///< why it cannot run; empty if it runs
  std::int64_t bytes_per_rank = 0;        ///< peak memory of one rank with the GEMM providers that take the most; 0 if refused
  std::int64_t least_bytes_per_rank = 0;  ///< with those that take the least: the run times them and takes the fastest
  double flop = 0;  ///< of all ranks, arms, blocks and calls, bounds that only move data left out; 0 if refused
};

/// What one rule of `exclude` or `include` (or the matrix) did.
struct RuleCount {
  std::string rule;  ///< "matrix", "include 1", "exclude 2"
  int line = 0;
  std::int64_t cells = 0;       ///< added or removed
  std::int64_t duplicates = 0;  ///< added cells that an earlier rule had added: dropped
};

struct PlanOptions {
  std::int64_t world = 0;             ///< processes of the launcher; 0: not known, ranks are made as needed
  std::int64_t cell_limit = 100'000;  ///< more cells than this are refused before they are expanded
  std::string_view version;           ///< of the program; part of the plan's hash
  std::int64_t device_bytes = 0;      ///< memory of the smallest device that ranks get; 0: not known
};

struct Plan {
  Spec spec;
  std::string resolved;  ///< resolved_json(spec)
  std::string yaml_sha256, resolved_sha256;
  std::string hash;  ///< sha256 of resolved spec and version: equal on all ranks or the run must not start
  std::vector<RuleCount> rules;
  std::vector<Cell> cells;  ///< in the order of the spec, refused ones included
  std::int64_t n_runnable = 0, n_refused = 0;
};

/// Expands a spec. Pure: no communicator, no buffer, no clock. Counts before it expands. Throws core::Error{usage} when the cells exceed
/// the limit (naming both) or when none is left.
Plan plan(const Spec& spec, const PlanOptions& options);

/// Kinds of the blocks of a cell in the order in which they run: 0 initial (operations and arms as given), 1 reversed. One pair is
/// {0, 1}. The burn-in pair is not among them; with `stop` they are the most that
/// can run. More pairs alternate in order, {0, 1, 1, 0, ...} or {1, 0, 0, 1, ...} drawn from the seed for every two pairs.
std::vector<std::uint8_t> block_kinds(const Spec& spec);

/// The plan as text for people; `gflops` is the assumed rate of the whole machine, from which the time is estimated.
std::string plan_table(const Plan& plan, double gflops);
/// The planners' tables of fused GPU kernels for every operation of every cell that runs, equal ones once. Pure: no device
/// is asked; a rank has `multiprocessors` of this architecture.
std::string kernel_tables(const Plan& plan, std::int64_t multiprocessors,
                          ops::Architecture architecture = ops::Architecture::sm_90a);
/// The plan as JSON for programs (format "megaup-plan").
std::string plan_json(const Plan& plan, double gflops);

}  // namespace megaup::experiments
