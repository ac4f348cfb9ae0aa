#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <megaup/ops/prepared_kernel_cuda.cuh>
#include <megaup/ops/regime.hpp>

/// How the benchmarks of the kernels time: arms interleaved in one stream, each between two events.
namespace megaup::cuda_tests {

struct Arm {
  std::string name;
  std::shared_ptr<ops::PreparedKernel> kernel;
  std::vector<double> ms = {};
};

double quantile(std::vector<double> values, double q);

class Timer {
 public:
  Timer();

  /// Runs every arm once a round, starting with another one each time. gap_ms: idle time before each run.
  void batch(std::vector<Arm>& arms, int rounds, double gap_ms);
  /// The batches of one power regime; the arms then hold the times of the last one. tune: more rounds, for more arms.
  void measure(std::vector<Arm>& arms, ops::Regime regime, bool tune);

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace megaup::cuda_tests
