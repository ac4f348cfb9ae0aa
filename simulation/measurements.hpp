#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <megaup/core/problem.hpp>
#include <megaup/core/record.hpp>
#include <megaup/simulation/answer.hpp>

namespace megaup::simulation {

/// One measured cell: the times of docs/estimator.md, seconds.
struct MeasuredCell {
  std::string file, cell, model;
  core::Problem problem;
  std::string duty, schedule, fabric;
  std::string device;                ///< the GPU's model; "" on hosts
  std::string date;                  ///< day of the file
  std::int64_t multiprocessors = 0;  ///< of the device as a fused kernel stored it; 0 = not known
  std::string default_transport;     ///< of native_packed as stored, without its version; "" = not known
  std::vector<std::string> arms;
  std::map<std::pair<std::string, std::string>, double>
      seconds;  ///< [operation, arm]; only whole ones of the four operations

  /// nullptr if it was not taken whole.
  const double* time(std::string_view operation, std::string_view arm) const;
};

/// What calibrate and validate learn from.
struct Measurements {
  std::vector<MeasuredCell> cells;
  std::vector<std::string> skipped;  ///< cells left out, each with its reason
};

/// Takes the measured cells of records. Cannot, naming the file: `source` is not measured (a prediction is no measurement); the fabric is
/// emulated (its exchange says nothing about a link); files of two fabrics; two duties or two schedules (their clocks differ: calibrate one
/// machine for each); two GPU models; a run without gemm_only, exchange_only and reorder_only in any cell; no measured cell at all. Cells that are not
/// measured, of one rank, of ranks that were timed alone, with cold caches, back to back, with kernels that the spec named, or without the bounds are
/// skipped with a reason. A cell measured twice is taken twice.
Answer<Measurements> measurements(const std::vector<core::Record>& records);

}  // namespace megaup::simulation
