#include <cstdint>
#include <random>
#include <string>

#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>

#include <megaup/analysis/test_support/cells.hpp>

namespace megaup::analysis {
namespace {

/// What `run` stores with each operation and arm of a cell, beside its settings.
core::Attributes attributes_of_run(const core::CellRecord& cell) {
  core::Attributes extra{
      {"cadence", std::string("barrier")},   {"cache", std::string("warm")},        {"duty", std::string("sustained")},
      {"validate", std::string("before")},   {"candidate", std::string("fused")},   {"identity", std::string(64, 'a')},
      {"kv_replication", std::int64_t{0}},   {"warmup", std::int64_t{10}},          {"oversubscribed", std::int64_t{0}},
      {"threads_per_rank", std::int64_t{1}}, {"validation_rows", std::int64_t{39}}, {"harness_overhead_s", 3e-8}};
  for (const char* bytes : {"announced_rank_bytes", "planned_rank_bytes", "peak_rank_bytes"})
    extra[bytes] = std::int64_t{123456789};
  const std::string gemm = "onednn_bf16_dense: oneDNN 2.6.3 brg:avx512_core_bf16, tiles of 128 x 512";
  for (const std::string& operation : cell.operations) {
    extra[operation + "_gemm_provider"] = std::string("onednn_bf16_dense");
    extra[operation + "_input_std"] = 1.0;
    extra[operation + "_input_zero_fraction"] = 9e-6;
    extra[operation + "_native_packed_exchanges"] = std::int64_t{1};
    extra[operation + "_native_packed_gemm"] = gemm;
    extra[operation + "_fused_gemm"] = gemm;
    extra[operation + "_fused_head_sets"] = std::int64_t{2};
  }
  return extra;
}

}  // namespace

// megaup_analysis_tests "[.ten-thousand]": writes ten-thousand.h5 for docs/benchmarks.md, cells as `run` writes them with the bounds.
TEST_CASE("a file of 10,000 cells", "[.ten-thousand]") {
  std::mt19937 random(1);
  std::lognormal_distribution<double> noise(0, 0.03);
  core::Record record = test_support::blank_record();
  for (int i = 0; i < 10'000; ++i) {
    auto cell = test_support::blank_cell({"native_packed", "fused", "gemm_only", "exchange_only", "reorder_only"});
    cell.id = fmt::format("llama-3.1-8b.cp2.m{:05}", i);
    cell.tokens_per_rank = 2048 + i;
    const double usual[] = {3e-3, 2.7e-3, 2e-3, 1.2e-3, 0.3e-3};  // seconds, by arm
    const std::size_t per_arm = cell.index(0, 1, 0, 0, 0);
    for (std::size_t k = 0; k < cell.latency.size(); ++k)
      cell.latency[k] = usual[k / per_arm % cell.arms.size()] * noise(random);
    const std::size_t pairs = cell.operations.size() * cell.arms.size();
    for (std::size_t k = 0; k < pairs * cell.order.size(); ++k) cell.started.push_back(1.8e9 + static_cast<double>(k));
    cell.error_frobenius.assign(pairs, 1e-3);
    cell.error_max.assign(pairs, 1e-3);
    cell.error_bound.assign(pairs, 1e-2);
    cell.extra = attributes_of_run(cell);
    record.cells.push_back(std::move(cell));
  }
  core::write_record(record, "ten-thousand.h5", true);
}

}  // namespace megaup::analysis
