#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <megaup/core/record.hpp>

/// The estimator of docs/estimator.md, as pure functions. The order of every sum is fixed, so equal files give equal
/// bits.
namespace megaup::core {

/// A block whose middle half of observations spans more than a quarter of its median has no one typical time.
inline constexpr double kWideSpread = 0.25;

/// Median and spread of one block.
struct BlockSummary {
  double median = 0;  ///< unit of the input
  double spread = 0;  ///< (upper quartile - lower quartile) / median if that may exceed kWideSpread, else 0
};

/// Median of `values` (the mean of the two middle ones for an even count). Reorders them. At least one value; all
/// finite.
double median(std::span<double> values);

struct Quartiles {
  double lower = 0, upper = 0;
};

/// The order statistics with as many values outside the one as outside the other, a quarter of them. Reorders `values`,
/// of which there must be at least one; all finite.
Quartiles quartiles(std::span<double> values);

/// One block: latency [observation, rank] -> the slowest rank of each observation -> median and spread over the
/// observations. Nothing if any value is not a finite positive time. `scratch` keeps its storage from call to call.
std::optional<BlockSummary> summarise_block(std::span<const double> latency, std::size_t ranks,
                                            std::vector<double>& scratch);

/// Times of one operation by one arm, milliseconds: the mean over the blocks of each run order.
struct ArmTimes {
  double initial_ms = 0, reversed_ms = 0;
  double widest_spread = 0;      ///< the largest BlockSummary::spread
  std::size_t widest_block = 0;  ///< and its block

  /// t: both orders count the same, however many blocks each has.
  double mean_ms() const { return 0.5 * (initial_ms + reversed_ms); }
};

/// Nothing if any time of (op, arm) in any block is not finite and positive. Both orders must be there (see
/// shortfall.hpp), and the sizes must fit.
std::optional<ArmTimes> arm_times(const CellRecord& cell, std::size_t op, std::size_t arm,
                                  std::vector<double>& scratch);

/// The blocks disagree by order when half the difference of their Deltas exceeds a quarter of Delta (so also when the
/// signs differ). Differences below one millionth of the baseline are rounding, not order.
bool orders_disagree(double initial_ms, double reversed_ms, double baseline_ms);

}  // namespace megaup::core
