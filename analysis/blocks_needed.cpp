#include <megaup/analysis/blocks_needed.hpp>

#include <cmath>

#include <megaup/core/student_t.hpp>

namespace megaup::analysis {

std::optional<std::int64_t> blocks_needed(const OrderedMean& estimate, double half_width, double confidence) {
  if (!(half_width > 0)) return std::nullopt;
  const auto enough = [&](std::int64_t pairs) {
    const double t = core::student_t_quantile(0.5 + 0.5 * confidence, 2 * pairs - 2);
    return t * estimate.spread / std::sqrt(2 * static_cast<double>(pairs)) < half_width;
  };
  // The half-width falls with every pair, so the number is found by doubling and halving.
  std::int64_t low = estimate.blocks / 2, high = low + 1;
  while (!enough(high)) {
    if (2 * high > kMostBlocks) return std::nullopt;
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  if (2 * high > kMostBlocks) return std::nullopt;
  return 2 * high;
}

}  // namespace megaup::analysis
