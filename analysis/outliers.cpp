#include <megaup/analysis/outliers.hpp>

#include <algorithm>

#include <megaup/core/estimator.hpp>

namespace megaup::analysis {

Outliers outliers(std::span<double> values) {
  Outliers found;
  if (values.size() < 8) return found;
  const auto [lower, upper] = core::quartiles(values);
  const double width = upper - lower;
  for (const double value : values) {
    const double beyond = std::max(lower - value, value - upper);
    if (beyond > 3 * width)
      ++found.severe;
    else if (beyond > 1.5 * width)
      ++found.mild;
  }
  return found;
}

}  // namespace megaup::analysis
