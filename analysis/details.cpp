#include <megaup/analysis/details.hpp>

#include <algorithm>
#include <array>
#include <span>

#include <megaup/analysis/block_series.hpp>
#include <megaup/analysis/row.hpp>
#include <megaup/analysis/shortfall.hpp>
#include <megaup/core/estimator.hpp>

namespace megaup::analysis {
namespace {

using core::CellRecord;

/// Mean over the two run orders of the block times: the estimator's rule.
double mean_of_orders(const std::vector<double>& times, const std::vector<std::uint8_t>& order) {
  double sum[2] = {0, 0}, blocks[2] = {0, 0};
  for (std::size_t block = 0; block < times.size(); ++block) {
    sum[order[block]] += times[block];
    blocks[order[block]] += 1;
  }
  return 0.5 * (sum[0] / blocks[0] + sum[1] / blocks[1]);
}

std::optional<double> time_ms(const CellRecord& cell, std::string_view arm,
                              std::span<const std::string_view> operations, AcrossRanks across) {
  const auto times = block_times_ms(cell, arm, operations, across);
  if (!times) return std::nullopt;
  return mean_of_orders(*times, cell.order);
}

std::optional<Additivity> additivity(const CellRecord& cell, std::string_view arm) {
  const std::array<std::string_view, 1> sequence{kSequence};
  const auto whole = time_ms(cell, arm, sequence, AcrossRanks::maximum);
  if (!whole) return std::nullopt;  // most cells have none: no time is spent on the sum
  const auto sum = time_ms(cell, arm, kOperations, AcrossRanks::maximum);
  if (!sum) return std::nullopt;
  return Additivity{*sum, *whole};
}

/// The slowest rank of each observation of one block, milliseconds.
std::vector<double> maxima_ms(const CellRecord& cell, std::size_t op, std::size_t arm, std::size_t block) {
  const auto ranks = static_cast<std::size_t>(cell.ranks);
  const std::span<const double> latency(cell.latency.data() + cell.index(op, arm, block, 0, 0),
                                        static_cast<std::size_t>(cell.observations) * ranks);
  std::vector<double> maxima;
  for (std::size_t first = 0; first < latency.size(); first += ranks) {
    const auto times = latency.subspan(first, ranks);
    maxima.push_back(*std::max_element(times.begin(), times.end()) * 1e3);  // s -> ms
  }
  return maxima;
}

void add_blocks(const CellRecord& cell, std::size_t op, std::size_t arm, std::size_t side, Depth depth,
                Details& details) {
  for (std::size_t block = 0; block < cell.order.size(); ++block) {
    auto maxima = maxima_ms(cell, op, arm, block);
    if (depth == Depth::observations)
      for (const double ms : maxima) details.maxima_ms.push_back(static_cast<float>(ms));
    const Outliers found = outliers(maxima);
    details.outliers[side].mild += found.mild;
    details.outliers[side].severe += found.severe;
  }
}

}  // namespace

Details details_of(const CellRecord& cell, std::string_view baseline, std::string_view candidate, Depth depth) {
  const std::array<std::string_view, 2> arms{baseline, candidate};
  Details details;
  details.order = cell.order;
  details.observations = cell.observations;
  for (std::size_t op = 0; op < kOperations.size(); ++op)
    for (std::size_t side = 0; side < arms.size(); ++side)
      add_blocks(cell, *position(cell.operations, kOperations[op]), *position(cell.arms, arms[side]), side, depth,
                 details);
  for (std::size_t side = 0; side < arms.size(); ++side) {
    details.stragglers[side] = stragglers(cell, arms[side], kOperations);
    details.additivity[side] = additivity(cell, arms[side]);
  }
  const auto baseline_mean = time_ms(cell, baseline, kOperations, AcrossRanks::mean);
  const auto candidate_mean = time_ms(cell, candidate, kOperations, AcrossRanks::mean);
  if (baseline_mean && candidate_mean) details.rank_mean_delta_ms = *baseline_mean - *candidate_mean;
  return details;
}

}  // namespace megaup::analysis
