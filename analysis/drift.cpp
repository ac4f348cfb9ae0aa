#include <megaup/analysis/drift.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <megaup/core/estimator.hpp>

namespace megaup::analysis {
namespace {

constexpr std::size_t kMostExact = 50;

/// Share of the permutations of n values whose |number of rising pairs - number of falling pairs| is at least `score`. The number of falling
/// pairs is the sum of independent uniform draws from 0..i, i < n.
double exact_p(std::size_t n, std::int64_t score) {
  std::vector<double> share{1};  // [falling pairs]
  for (std::size_t i = 1; i < n; ++i) {
    std::vector<double> next(share.size() + i, 0);
    for (std::size_t falling = 0; falling < share.size(); ++falling)
      for (std::size_t more = 0; more <= i; ++more) next[falling + more] += share[falling] / static_cast<double>(i + 1);
    share = std::move(next);
  }
  const auto pairs = static_cast<std::int64_t>(n * (n - 1) / 2);
  double p = 0;
  for (std::int64_t falling = 0; falling <= pairs; ++falling)
    if (std::abs(pairs - 2 * falling) >= score) p += share[static_cast<std::size_t>(falling)];
  return std::min(p, 1.0);
}

double normal_p(std::size_t n, std::int64_t score, const std::map<double, std::int64_t>& counts) {
  const auto term = [](double size) { return size * (size - 1) * (2 * size + 5); };
  double variance = term(static_cast<double>(n));
  for (const auto& [value, count] : counts) variance -= term(static_cast<double>(count));
  variance /= 18;
  if (score == 0 || variance <= 0) return 1;
  return std::erfc(static_cast<double>(score - 1) / std::sqrt(2 * variance));
}

}  // namespace

double theil_sen_slope(std::span<const double> x, std::span<const double> y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = i + 1; j < x.size(); ++j)
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
  return slopes.empty() ? 0 : core::median(slopes);
}

double mann_kendall_p(std::span<const double> values) {
  if (values.size() < 3) return 1;
  std::int64_t score = 0;
  std::map<double, std::int64_t> counts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ++counts[values[i]];
    for (std::size_t j = i + 1; j < values.size(); ++j) score += (values[j] > values[i]) - (values[j] < values[i]);
  }
  score = std::abs(score);
  const bool ties = counts.size() < values.size();
  return values.size() <= kMostExact && !ties ? exact_p(values.size(), score) : normal_p(values.size(), score, counts);
}

}  // namespace megaup::analysis
