#include <megaup/analysis/outliers.hpp>

#include <algorithm>

namespace megaup::analysis {

Outliers outliers(std::span<const double> values) {
  Outliers found;
  if (values.size() < 8) return found;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t outside = (sorted.size() - 1) / 4;
  const double lower = sorted[outside], upper = sorted[sorted.size() - 1 - outside];
  const double width = upper - lower;
  for (const double value : sorted) {
    const double beyond = std::max(lower - value, value - upper);
    if (beyond > 3 * width)
      ++found.severe;
    else if (beyond > 1.5 * width)
      ++found.mild;
  }
  return found;
}

}  // namespace megaup::analysis
