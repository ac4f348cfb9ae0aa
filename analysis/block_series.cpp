#include <megaup/analysis/block_series.hpp>

#include <cmath>

#include <megaup/analysis/shortfall.hpp>
#include <megaup/core/estimator.hpp>

namespace megaup::analysis {
namespace {

/// latency [observation, rank] -> median over the observations of the mean over the ranks.
std::optional<double> median_of_rank_means(std::span<const double> latency, std::size_t ranks,
                                           std::vector<double>& scratch) {
  scratch.clear();
  for (std::size_t first = 0; first < latency.size(); first += ranks) {
    double sum = 0;
    for (const double time : latency.subspan(first, ranks)) {
      if (!(time > 0 && std::isfinite(time))) return std::nullopt;
      sum += time;
    }
    scratch.push_back(sum / static_cast<double>(ranks));
  }
  if (scratch.empty()) return std::nullopt;
  return core::median(scratch);
}

std::optional<double> block_median(const core::CellRecord& cell, std::size_t op, std::size_t arm, std::size_t block,
                                   AcrossRanks across, std::vector<double>& scratch) {
  const auto ranks = static_cast<std::size_t>(cell.ranks);
  const std::span<const double> latency(cell.latency.data() + cell.index(op, arm, block, 0, 0),
                                        static_cast<std::size_t>(cell.observations) * ranks);
  if (across == AcrossRanks::mean) return median_of_rank_means(latency, ranks, scratch);
  const auto summary = core::summarise_block(latency, ranks, scratch);
  if (!summary) return std::nullopt;
  return summary->median;
}

}  // namespace

std::optional<std::vector<double>> block_times_ms(const core::CellRecord& cell, std::string_view arm,
                                                  std::span<const std::string_view> operations, AcrossRanks across) {
  const auto arm_at = position(cell.arms, arm);
  if (!arm_at) return std::nullopt;
  std::vector<double> times(cell.order.size(), 0), scratch;
  for (const std::string_view operation : operations) {
    const auto op = position(cell.operations, operation);
    if (!op) return std::nullopt;
    for (std::size_t block = 0; block < times.size(); ++block) {
      const auto time = block_median(cell, *op, *arm_at, block, across, scratch);
      if (!time) return std::nullopt;
      times[block] += *time * 1e3;  // s -> ms
    }
  }
  return times;
}

std::optional<std::vector<double>> block_starts(const core::CellRecord& cell, std::string_view arm,
                                                std::span<const std::string_view> operations) {
  const auto arm_at = position(cell.arms, arm);
  if (!arm_at || cell.started.size() != cell.operations.size() * cell.arms.size() * cell.order.size())
    return std::nullopt;
  std::vector<double> starts(cell.order.size(), 0);
  for (const std::string_view operation : operations) {
    const auto op = position(cell.operations, operation);
    if (!op) return std::nullopt;
    for (std::size_t block = 0; block < starts.size(); ++block) {
      const double start = cell.started[(*op * cell.arms.size() + *arm_at) * cell.order.size() + block];
      if (!std::isfinite(start)) return std::nullopt;
      starts[block] += start / static_cast<double>(operations.size());
    }
  }
  return starts;
}

}  // namespace megaup::analysis
