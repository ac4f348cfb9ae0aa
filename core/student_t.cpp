#include <megaup/core/student_t.hpp>

#include <cmath>
#include <numbers>

namespace megaup::core {
namespace {

/// P(|T| < t), t >= 0. With theta = atan(t / sqrt(degrees)), both sums run over powers of cos(theta) in steps of two; each term is the one
/// before it times cos^2 and a ratio of two whole numbers.
double central_probability(double t, std::int64_t degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine_squared = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(theta) : 1.0;
  double sum = 0;
  for (std::int64_t power = odd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= cosine_squared * static_cast<double>(power + 1) / static_cast<double>(power + 2);
  }
  return odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

}  // namespace

double student_t_cdf(double t, std::int64_t degrees) {
  const double half = 0.5 * central_probability(std::abs(t), degrees);
  return t < 0 ? 0.5 - half : 0.5 + half;
}

double student_t_quantile(double p, std::int64_t degrees) {
  if (p < 0.5) return -student_t_quantile(1 - p, degrees);
  double low = 0, high = 1;
  while (student_t_cdf(high, degrees) < p && high < 1e15) high *= 2;
  for (double middle = 0.5 * (low + high); middle > low && middle < high; middle = 0.5 * (low + high))
    (student_t_cdf(middle, degrees) < p ? low : high) = middle;
  return high;
}

}  // namespace megaup::core
