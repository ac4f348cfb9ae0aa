#include <megaup/analysis/resolution.hpp>

#include <algorithm>
#include <cmath>

namespace megaup::analysis {

std::optional<Resolution> resolution_of(const std::optional<OrderedMean>& difference, double arm_ms,
                                        double confidence) {
  if (!difference || !(arm_ms > 0)) return std::nullopt;
  const Interval interval = interval_of(*difference, confidence);
  const double ms = std::max(std::abs(interval.low), std::abs(interval.high));
  return Resolution{ms, ms / arm_ms};
}

}  // namespace megaup::analysis
