#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <megaup/core/record.hpp>

/// Cells with known times, for tests. Times are given in milliseconds and stored in seconds.
namespace megaup::analysis::test_support {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A sound cell in which everything takes one millisecond.
inline core::CellRecord blank_cell(std::vector<std::string> arms = {"native_packed", "fused"},
                                   std::vector<std::uint8_t> order = {0, 1}, std::int64_t observations = 40,
                                   std::int64_t ranks = 2) {
  core::CellRecord cell;
  cell.id = "cell";
  cell.model = "llama-3.1-8b";
  cell.hidden = 4096, cell.query_heads = 32, cell.kv_heads = 8, cell.head_dim = 128;
  cell.cp = 2, cell.batch = 8, cell.tokens_per_rank = 2048;
  cell.format = "sbhd", cell.sequence_order = "contiguous", cell.qkv_weight = "grouped";
  cell.status = "measured";
  cell.operations = {"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
  cell.arms = std::move(arms);
  cell.order = std::move(order);
  cell.observations = observations;
  cell.ranks = ranks;
  cell.latency.assign(cell.index(cell.operations.size(), 0, 0, 0, 0), 1e-3);
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
  core::Record record;
  record.path = std::move(path);
  record.created = "2026-11-29T12:00:00Z";
  record.megaup_version = "0.1.0";
  record.git = std::string(40, '0');
  record.environment = {{"host", "node-a"}, {"device", "host"}, {"communicator", "threads"}};
  return record;
}

}  // namespace megaup::analysis::test_support
