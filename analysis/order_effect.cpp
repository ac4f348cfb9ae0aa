#include <megaup/analysis/order_effect.hpp>

#include <cmath>

namespace megaup::analysis {

OrderEffect order_effect(const OrderedMean& estimate, double confidence, std::optional<double> resolution) {
  OrderEffect result;
  result.effect = 0.5 * (estimate.initial - estimate.reversed);
  OrderedMean centred = estimate;  // the same standard error, see OrderedMean
  centred.mean = result.effect;
  result.interval = interval_of(centred, confidence);
  const double nearest = result.interval.low > 0    ? result.interval.low
                         : result.interval.high < 0 ? -result.interval.high
                                                    : 0;
  const bool large = std::abs(result.effect) > 0.25 * std::abs(estimate.mean);
  result.matters = nearest > 0 && (large || (resolution && nearest > *resolution));
  return result;
}

}  // namespace megaup::analysis
