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

/// The quartiles are the order statistics with as many values outside as each other, as in the estimator's spread. None below eight values.
Outliers outliers(std::span<const double> values);

}  // namespace megaup::analysis
