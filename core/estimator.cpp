#include <megaup/core/estimator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace megaup::core {
namespace {

/// Slowest rank of each observation; false if a value is not a finite positive time. NaN fails the comparison.
bool rank_maxima(std::span<const double> latency, std::size_t ranks, std::vector<double>& maxima) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  maxima.clear();
  for (std::size_t first = 0; first < latency.size(); first += ranks) {
    double slowest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const double time = latency[first + rank];
      if (!(time > 0 && time <= kLargest)) return false;
      slowest = std::max(slowest, time);
    }
    maxima.push_back(slowest);
  }
  return !maxima.empty();
}

/// Up to here the choice of pivots cannot make selection slow enough to matter.
constexpr std::size_t kSmall = 1024;

/// Moves what is below the bound in front of [begin, end), in no order; returns where the rest starts. No branch
/// depends on the data: for blocks of 40 that makes the median three times as fast as std::nth_element, whose branches
/// are guessed wrong every other time.
template <class Below>
double* partition(double* begin, double* end, Below below) {
  double* rest = begin;
  for (double* next = begin; next != end; ++next) {
    const double value = *next;
    *next = *rest;
    *rest = value;
    rest += below(value) ? 1 : 0;
  }
  return rest;
}

/// The n-th smallest; what is smaller lies before it, what is larger behind it.
double nth(std::span<double> values, std::size_t n) {
  double *begin = values.data(), *end = begin + values.size(), *const wanted = begin + n;
  if (values.size() > kSmall) {
    std::nth_element(begin, wanted, end);
    return *wanted;
  }
  while (end - begin > 1) {
    const double first = *begin, middle = begin[(end - begin) / 2], last = end[-1];
    const double pivot = std::max(std::min(first, middle), std::min(std::max(first, middle), last));
    double* const equal = partition(begin, end, [=](double value) { return value < pivot; });
    if (wanted < equal) {
      end = equal;
      continue;
    }
    begin = partition(equal, end, [=](double value) { return value <= pivot; });
    if (wanted < begin) break;
  }
  return *wanted;
}

/// Upper minus lower quartile; 0 for fewer than four values.
double quartile_distance(std::span<double> values) {
  if (values.size() < 4) return 0;
  const auto [lower, upper] = quartiles(values);
  return upper - lower;
}

}  // namespace

Quartiles quartiles(std::span<double> values) {
  const std::size_t outside = (values.size() - 1) / 4;
  const double lower = nth(values, outside);
  return {lower, nth(values, values.size() - 1 - outside)};
}

double median(std::span<double> values) {
  const std::size_t middle = values.size() / 2;
  const double upper = nth(values, middle);
  if (values.size() % 2 == 1) return upper;
  // nth left everything below the middle in front of it.
  const double lower = *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle));
  return 0.5 * (lower + upper);
}

std::optional<BlockSummary> summarise_block(std::span<const double> latency, std::size_t ranks,
                                            std::vector<double>& scratch) {
  if (!rank_maxima(latency, ranks, scratch)) return std::nullopt;
  const std::span<double> values(scratch);
  BlockSummary summary{.median = median(values)};
  // The quartiles cost as much as the median, and nearly no block needs them: its whole range is narrow.
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*most - *least > kWideSpread * summary.median) summary.spread = quartile_distance(values) / summary.median;
  return summary;
}

std::optional<ArmTimes> arm_times(const CellRecord& cell, std::size_t op, std::size_t arm,
                                  std::vector<double>& scratch) {
  const auto ranks = static_cast<std::size_t>(cell.ranks);
  const std::size_t block_size = static_cast<std::size_t>(cell.observations) * ranks;
  ArmTimes times;
  double sum[2] = {0, 0};
  int blocks[2] = {0, 0};
  for (std::size_t block = 0; block < cell.order.size(); ++block) {
    const std::span<const double> latency(cell.latency.data() + cell.index(op, arm, block, 0, 0), block_size);
    const auto summary = summarise_block(latency, ranks, scratch);
    if (!summary) return std::nullopt;
    sum[cell.order[block]] += summary->median * 1e3;  // s -> ms
    ++blocks[cell.order[block]];
    if (summary->spread > times.widest_spread) {
      times.widest_spread = summary->spread;
      times.widest_block = block;
    }
  }
  times.initial_ms = sum[0] / blocks[0];
  times.reversed_ms = sum[1] / blocks[1];
  return times;
}

bool orders_disagree(double initial_ms, double reversed_ms, double baseline_ms) {
  const double effect = 0.5 * std::abs(initial_ms - reversed_ms);
  const double delta = 0.5 * std::abs(initial_ms + reversed_ms);
  return effect > 1e-6 * baseline_ms && effect > 0.25 * delta;
}

}  // namespace megaup::core
