#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <megaup/ops/operation.hpp>
#include <timed_arms_cuda.cuh>

/// What the benchmarks of the push and of the pull kernels have in common: which cells, and how they are printed.
namespace megaup::cuda_tests {

struct Model {
  std::string_view name;
  std::int64_t H, Hq, Hk;  // D = 128
};
std::span<const Model> models();

/// One operation of one model on P ranks.
struct Cell {
  std::string_view model;
  const ops::Operation& operation;
  core::Problem problem;
};

struct Options {
  bool all = false, tune = false, peer = false;
  std::vector<Model> models;
  std::vector<std::int64_t> M;
};

struct Benchmark {
  std::vector<const char*> operations;
  core::Reason (*refusal)(const core::Problem& problem, core::Columns columns);
  void (*time_cell)(Timer& timer, const Cell& cell, const Options& options);
};

/// Times the cells that the arguments ask for: [all] [tune] [peer] [MODEL...] [M...]
///   all    P = 2, 4, 8 (else 8)
///   MODEL  of a table of six, all of them if none is named
///   M      rows of a rank, 8192 if none is given
/// tune and peer are for time_cell. Exit: 0, 1 stopped, 2 wrong arguments, 77 no suitable device.
int run_benchmark(int argc, char** argv, const Benchmark& benchmark);

/// One line an arm: median ms, then median, 10 % and 90 % quantile of t(first arm) / t(arm) of the same round.
void print_rows(std::string_view fabric, const Cell& cell, ops::Regime regime, const std::vector<Arm>& arms);

}  // namespace megaup::cuda_tests
