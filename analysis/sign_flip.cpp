#include <megaup/analysis/sign_flip.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace megaup::analysis {
namespace {

constexpr std::size_t kMostCounted = 16;
constexpr std::uint64_t kDrawn = 65535;
constexpr std::uint64_t kSeed = 1;  // any: it only has to be the same in every run

double counted_share(std::span<const double> differences, double reached) {
  // A pattern and its opposite have the same absolute sum, so the first sign can stay. Gray code: each pattern differs from the one before
  // it in one sign.
  std::vector<double> values(differences.begin(), differences.end());
  double sum = 0;
  for (const double value : values) sum += value;
  const std::uint64_t patterns = std::uint64_t{1} << (values.size() - 1);
  std::uint64_t count = 1;
  for (std::uint64_t pattern = 1; pattern < patterns; ++pattern) {
    double& value = values[1 + static_cast<std::size_t>(std::countr_zero(pattern))];
    sum -= 2 * value;
    value = -value;
    count += std::abs(sum) >= reached ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(patterns);
}

double drawn_share(std::span<const double> differences, double reached) {
  std::mt19937_64 generator(kSeed);
  std::uint64_t count = 1;
  for (std::uint64_t draw = 0; draw < kDrawn; ++draw) {
    double sum = 0;
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (i % 64 == 0) signs = generator();
      sum += (signs >> (i % 64) & 1) != 0 ? differences[i] : -differences[i];
    }
    count += std::abs(sum) >= reached ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(kDrawn + 1);
}

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  double sum = 0, size = 0;
  for (const double value : differences) {
    sum += value;
    size += std::abs(value);
  }
  if (differences.empty() || size == 0) return 1;
  const double reached = std::abs(sum) - 1e-9 * size;  // rounding must not hide that two patterns are equal
  return differences.size() <= kMostCounted ? counted_share(differences, reached) : drawn_share(differences, reached);
}

}  // namespace megaup::analysis
