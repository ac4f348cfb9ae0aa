#include <megaup/analysis/sequential.hpp>

#include <algorithm>

#include <megaup/analysis/block_series.hpp>
#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/interval.hpp>

namespace megaup::analysis {

std::vector<std::int64_t> looks(std::int64_t max_pairs) {
  std::vector<std::int64_t> at;
  for (std::int64_t pairs = 2; pairs < max_pairs; pairs *= 2) at.push_back(pairs);
  at.push_back(max_pairs);
  return at;
}

double look_confidence(std::int64_t looks) { return 1 - 0.05 / static_cast<double>(looks); }

bool may_stop(std::span<const double> differences, std::span<const std::uint8_t> order, double half_width,
              std::int64_t max_pairs) {
  const auto pairs = static_cast<std::int64_t>(differences.size() / 2);
  if (pairs >= max_pairs) return true;
  const auto at = looks(max_pairs);
  if (differences.size() % 2 != 0 || !std::binary_search(at.begin(), at.end(), pairs)) return false;
  const auto estimate = ordered_mean(differences, order);
  if (!estimate) return false;
  const Interval interval = interval_of(*estimate, look_confidence(static_cast<std::int64_t>(at.size())));
  return 0.5 * (interval.high - interval.low) <= half_width;
}

bool may_stop(const core::CellRecord& cell, double half_width, std::int64_t max_pairs) {
  const auto rows = cell_rows(core::Record{}, cell);
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    auto differences = block_times_ms(cell, row.baseline, kOperations, AcrossRanks::maximum);
    const auto candidate = block_times_ms(cell, row.candidate, kOperations, AcrossRanks::maximum);
    if (!differences || !candidate) return false;
    for (std::size_t block = 0; block < differences->size(); ++block) (*differences)[block] -= (*candidate)[block];
    return may_stop(*differences, cell.order, half_width, max_pairs);
  });
}

}  // namespace megaup::analysis
