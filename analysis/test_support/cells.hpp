#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <megaup/core/record.hpp>
#include <megaup/core/test_support/records.hpp>

/// Cells with known times, for tests. Times are given in milliseconds and stored in seconds.
namespace megaup::analysis::test_support {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A sound cell in which everything takes one millisecond.
inline core::CellRecord blank_cell(std::vector<std::string> arms = {"native_packed", "fused"},
                                   std::vector<std::uint8_t> order = {0, 1}, std::int64_t observations = 40,
                                   std::int64_t ranks = 2) {
  auto cell = core::test_support::measured_cell("cell", std::move(arms), std::move(order), observations, ranks);
  cell.started.clear();
  for (auto* errors : {&cell.error_frobenius, &cell.error_max, &cell.error_bound}) errors->clear();
  return cell;
}

inline void set(core::CellRecord& cell, std::size_t op, std::size_t arm, std::size_t block, std::int64_t observation,
                std::int64_t rank, double ms) {
  cell.latency[cell.index(op, arm, block, static_cast<std::size_t>(observation), static_cast<std::size_t>(rank))] =
      ms / 1e3;
}

/// The same time on every rank and observation of a block.
inline void fill(core::CellRecord& cell, std::size_t op, std::size_t arm, std::size_t block, double ms) {
  for (std::int64_t i = 0; i < cell.observations; ++i)
    for (std::int64_t rank = 0; rank < cell.ranks; ++rank) set(cell, op, arm, block, i, rank, ms);
}

/// The same time in every block of every operation.
inline void fill_arm(core::CellRecord& cell, std::size_t arm, double ms) {
  for (std::size_t op = 0; op < cell.operations.size(); ++op)
    for (std::size_t block = 0; block < cell.order.size(); ++block) fill(cell, op, arm, block, ms);
}

/// One file's worth of everything but cells.
inline core::Record blank_record(std::string path = "run.h5") {
  auto record = core::test_support::record_of({});
  record.path = std::move(path);
  record.environment = {{"host", "node-a"}, {"device", "host"}, {"communicator", "threads"}};
  return record;
}

}  // namespace megaup::analysis::test_support
