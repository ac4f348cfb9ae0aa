#include <megaup/analysis/false_discovery.hpp>

#include <algorithm>

namespace megaup::analysis {

std::vector<bool> discoveries(std::span<const double> p_values, double rate) {
  std::vector<double> sorted(p_values.begin(), p_values.end());
  std::sort(sorted.begin(), sorted.end());
  double threshold = -1;
  for (std::size_t k = 1; k <= sorted.size(); ++k)
    if (sorted[k - 1] <= rate * static_cast<double>(k) / static_cast<double>(sorted.size())) threshold = sorted[k - 1];
  std::vector<bool> found;
  for (const double p : p_values) found.push_back(p <= threshold);
  return found;
}

}  // namespace megaup::analysis
