#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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

struct Model {
  std::string_view name;
  std::int64_t H, Hq, Hk;  // D = 128
};
inline constexpr Model kModels[] = {{"llama-3.1-8b", 4096, 32, 8},     {"qwen3-32b", 5120, 64, 8},
                             {"llama-3.1-405b", 16384, 128, 8}, {"gpt-3-175b", 12288, 96, 96},
                             {"nemotron-3-super", 4096, 32, 2}, {"nemotron-3-ultra", 8192, 64, 2}};

}  // namespace megaup::cuda_tests
