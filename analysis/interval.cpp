#include <megaup/analysis/interval.hpp>

#include <cmath>

#include <megaup/core/student_t.hpp>

namespace megaup::analysis {

std::optional<OrderedMean> ordered_mean(std::span<const double> values, std::span<const std::uint8_t> order) {
  double sum[2] = {0, 0};
  std::int64_t blocks[2] = {0, 0};
  for (std::size_t block = 0; block < values.size(); ++block) {
    sum[order[block]] += values[block];
    ++blocks[order[block]];
  }
  if (blocks[0] < 2 || blocks[1] < 2) return std::nullopt;

  OrderedMean estimate;
  estimate.initial = sum[0] / static_cast<double>(blocks[0]);
  estimate.reversed = sum[1] / static_cast<double>(blocks[1]);
  estimate.mean = 0.5 * (estimate.initial + estimate.reversed);
  estimate.blocks = blocks[0] + blocks[1];
  estimate.degrees = estimate.blocks - 2;
  double squares = 0;
  for (std::size_t block = 0; block < values.size(); ++block) {
    const double off = values[block] - (order[block] == 0 ? estimate.initial : estimate.reversed);
    squares += off * off;
  }
  estimate.spread = std::sqrt(squares / static_cast<double>(estimate.degrees));
  estimate.standard_error =
      0.5 * estimate.spread * std::sqrt(1 / static_cast<double>(blocks[0]) + 1 / static_cast<double>(blocks[1]));
  return estimate;
}

Interval interval_of(const OrderedMean& estimate, double confidence) {
  const double half = core::student_t_quantile(0.5 + 0.5 * confidence, estimate.degrees) * estimate.standard_error;
  return {estimate.mean - half, estimate.mean + half};
}

double lower_bound(const OrderedMean& estimate, double confidence) {
  return estimate.mean - core::student_t_quantile(confidence, estimate.degrees) * estimate.standard_error;
}

double p_value(const OrderedMean& estimate) {
  if (estimate.standard_error == 0) return estimate.mean == 0 ? 1 : 0;
  return 2 * core::student_t_cdf(-std::abs(estimate.mean) / estimate.standard_error, estimate.degrees);
}

}  // namespace megaup::analysis
