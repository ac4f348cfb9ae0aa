#pragma once

#include <span>
#include <vector>

namespace megaup::analysis {

/// Benjamini and Hochberg (1995): which of many tests can be called, so that at most the share `rate` of the calls is expected to be false.
/// The result has the order of the p-values: with p sorted, all up to the largest k with p(k) <= k / n * rate.
std::vector<bool> discoveries(std::span<const double> p_values, double rate);

}  // namespace megaup::analysis
