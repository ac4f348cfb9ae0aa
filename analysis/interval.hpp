#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace megaup::analysis {

struct Interval {
  double low = 0, high = 0;
};

/// Fewer blocks than this give no interval: two of each order are the least that show a spread within an order.
inline constexpr std::int64_t kLeastBlocks = 4;

/// The mean of values that were taken in two run orders, both orders counting the same, with its standard error:
///   mean           = (mean of the initial blocks + mean of the reversed blocks) / 2
///   spread         = sqrt(sum over blocks of (value - mean of its order)^2 / degrees), degrees = blocks - 2
///   standard_error = spread / 2 * sqrt(1 / initial blocks + 1 / reversed blocks)
/// The spread is taken within each order: an effect of the order would otherwise pass for noise. It is also the standard error of half the
/// difference of the two orders.
struct OrderedMean {
  double mean = 0, initial = 0, reversed = 0;
  double spread = 0, standard_error = 0;
  std::int64_t blocks = 0, degrees = 0;
};

/// values [block], order [block] (0 initial, 1 reversed). Nothing with fewer than kLeastBlocks blocks or fewer than two of one order.
std::optional<OrderedMean> ordered_mean(std::span<const double> values, std::span<const std::uint8_t> order);

/// Two-sided interval by Student's t with `degrees` degrees of freedom around the mean; confidence such as 0.95.
Interval interval_of(const OrderedMean& estimate, double confidence);

/// One-sided: the mean of further runs lies above it with this confidence.
double lower_bound(const OrderedMean& estimate, double confidence);

/// Two-sided p-value of mean = 0 by Student's t. With no spread at all: 0, or 1 if the mean is zero too.
double p_value(const OrderedMean& estimate);

}  // namespace megaup::analysis
