#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace megaup::analysis {

/// Observations outside Tukey's fences. They are counted and shown, never dropped: the median does not need it, and they are part of the run.
struct Outliers {
  std::int64_t mild = 0;    ///< beyond 1.5 times the middle half from its ends, up to 3 times
  std::int64_t severe = 0;  ///< beyond 3 times
};

/// Beyond the quartiles of the estimator; none below eight values. Reorders `values`.
Outliers outliers(std::span<double> values);

}  // namespace megaup::analysis
