#include <megaup/experiments/first_blocks.hpp>

#include <vector>

namespace megaup::experiments {
namespace {

/// [series, block, each] -> its first `keep` blocks.
std::vector<double> first(const std::vector<double>& values, std::size_t blocks, std::size_t each, std::size_t keep) {
  std::vector<double> kept;
  for (auto series = values.begin(); series != values.end(); series += static_cast<std::ptrdiff_t>(blocks * each))
    kept.insert(kept.end(), series, series + static_cast<std::ptrdiff_t>(keep * each));
  return kept;
}

}  // namespace

core::CellRecord first_blocks(const core::CellRecord& cell, std::size_t blocks) {
  core::CellRecord kept = cell;
  const std::size_t n = cell.order.size();
  kept.order.resize(blocks);
  kept.latency = first(cell.latency, n, static_cast<std::size_t>(cell.observations * cell.ranks), blocks);
  kept.started = first(cell.started, n, 1, blocks);
  for (const auto& quantity : core::kDeviceQuantities)
    kept.device.*quantity.values = first(cell.device.*quantity.values, n, static_cast<std::size_t>(cell.ranks), blocks);
  return kept;
}

}  // namespace megaup::experiments
