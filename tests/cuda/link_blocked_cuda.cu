#include <link_duties_cuda.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <benchmark_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

constexpr double kHeatMs = 400, kAloneMs = 100;
constexpr int kAloneLaunches = 50;

/// Prints the variant, with shares of a median of the bare GEMM; that of the variant itself if it is 0. Returns the
/// median.
double time_alone(const LinkCell& cell, const Duty& duty, const Variant& variant, double bare_ms) {
  ops::PreparedOperation* const alone[] = {variant.operation.get()};
  const double ms = quantile(cell.timer.run(alone, {1, 3}).operations[0].ms, 0.5);
  const auto begin = std::chrono::steady_clock::now();
  const int launches = std::max(kAloneLaunches, static_cast<int>(kAloneMs / ms));
  const Timed timed = cell.timer.run(alone, {static_cast<int>(kHeatMs / ms), launches});
  const double power = power_w(cell, begin);
  const Timed::Operation& operation = timed.operations[0];
  const double median = quantile(operation.ms, 0.5);
  const Times bare(operation.ms.size(), bare_ms > 0 ? bare_ms : median);
  print(cell, {duty, "alone", variant, operation, shares(bare, operation.ms), timed.clock_hz, power});
  return median;
}

}  // namespace

void time_blocked(const LinkCell& cell, const Duty& duty, const Variant& bare, const std::vector<Variant>& kernels,
                  const std::vector<Variant>& natives) {
  const double bare_ms = time_alone(cell, duty, bare, 0);
  for (const std::vector<Variant>* variants : {&kernels, &natives})
    for (const Variant& variant : *variants)
      if (variant.alone) time_alone(cell, duty, variant, bare_ms);
  time_alone(cell, duty, bare, bare_ms);
  std::fflush(stdout);
}

}  // namespace megaup::cuda_tests
