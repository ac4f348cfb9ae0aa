#pragma once

#include <span>

namespace megaup::analysis {

/// Theil-Sen slope: the median of (y[j] - y[i]) / (x[j] - x[i]) over all pairs with different x. 0 if there is no such pair.
/// x need not be sorted. Cost: the square of the number of values.
double theil_sen_slope(std::span<const double> x, std::span<const double> y);

/// Two-sided p-value of "no trend" by the Mann-Kendall test of the values in the order given: exact up to 50 values without ties, else the
/// normal approximation with continuity and ties accounted for. 1 for fewer than three values.
double mann_kendall_p(std::span<const double> values);

}  // namespace megaup::analysis
