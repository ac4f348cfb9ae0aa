#pragma once

#include <cstdint>

namespace megaup::core {

/// P(T <= t) for Student's t with `degrees` >= 1 whole degrees of freedom. Exact finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4), so
/// the absolute error is a few 1e-16 times `degrees`. Cost: degrees / 2 multiplications.
double student_t_cdf(double t, std::int64_t degrees);

/// The t with student_t_cdf(t, degrees) = p, 0 < p < 1; found by bisection of the sum above.
double student_t_quantile(double p, std::int64_t degrees);

}  // namespace megaup::core
