#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <megaup/core/hash.hpp>
#include <megaup/core/record.hpp>

/// Sound records, for the tests of every layer to start from.
namespace megaup::core::test_support {

/// A measured cell of llama-3.1-8b at CP 2 in which every time is 1 ms and every error well within its bound; starts are a second apart.
inline CellRecord measured_cell(std::string id, std::vector<std::string> arms = {"native_packed", "fused"},
                                std::vector<std::uint8_t> order = {0, 1}, std::int64_t observations = 40,
                                std::int64_t ranks = 2) {
  CellRecord cell;
  cell.id = std::move(id);
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
  const std::size_t pairs = cell.operations.size() * cell.arms.size();
  for (std::size_t i = 0; i < pairs * cell.order.size(); ++i)
    cell.started.push_back(1795953600.5 + static_cast<double>(i));
  cell.error_frobenius.assign(pairs, 1e-3);
  cell.error_max.assign(pairs, 2e-3);
  cell.error_bound.assign(pairs, 1e-2);
  return cell;
}

/// A record of these cells without violations.
inline Record record_of(std::vector<CellRecord> cells) {
  Record record;
  record.created = "2026-11-29T12:00:00Z";
  record.megaup_version = "0.1.0";
  record.git = std::string(40, '0');
  record.environment = {{"host", "node-a"}};
  record.spec_yaml = "spec_version: 1\nname: ü\n";
  record.spec_resolved = "{}";
  record.spec_sha256_yaml = sha256(record.spec_yaml);
  record.spec_sha256_resolved = sha256(record.spec_resolved);
  record.cells = std::move(cells);
  return record;
}

}  // namespace megaup::core::test_support
