#include <megaup/simulation/contention_fit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {
namespace {

constexpr int kSteps = 10;            // of a grid to each side of its middle
constexpr double kFinestStep = 1e-3;  // factors are not known better than that
constexpr double kPrior = 4e-3;       // with errors of 1.5 %: as if both were known to be 1 within a quarter

double squared_errors(const std::vector<FusedSample>& samples, double (*seconds)(const FusedWork&), Factors factors) {
  double sum = kPrior * (std::pow(std::log(factors.compute), 2) + std::pow(std::log(factors.link), 2));
  for (const FusedSample& sample : samples) {
    FusedWork work = sample.work;
    work.compute *= factors.compute;
    work.link *= factors.link;
    sum += std::pow((seconds(work) + sample.barrier) / sample.measured - 1, 2);
  }
  return sum;
}

}  // namespace

Factors fit_contention(const std::vector<FusedSample>& samples, double (*seconds)(const FusedWork&)) {
  Factors best{0.5 * (kLeastFactor + kMostFactor), 0.5 * (kLeastFactor + kMostFactor)};
  double least = std::numeric_limits<double>::infinity();
  for (double step = 0.5 * (kMostFactor - kLeastFactor) / kSteps; step > 0.5 * kFinestStep; step *= 0.4) {
    const Factors middle = best;
    for (int i = -kSteps; i <= kSteps; ++i)
      for (int j = -kSteps; j <= kSteps; ++j) {
        const Factors tried{std::clamp(middle.compute + i * step, kLeastFactor, kMostFactor),
                            std::clamp(middle.link + j * step, kLeastFactor, kMostFactor)};
        const double error = squared_errors(samples, seconds, tried);
        if (error < least) least = error, best = tried;
      }
  }
  return best;
}

}  // namespace megaup::simulation
