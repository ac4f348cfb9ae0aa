#include <benchmark_cuda.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <string>

#include <megaup/ops/fused_kernels.hpp>

namespace megaup::cuda_tests {

namespace {

constexpr Model kModels[] = {{"llama-3.1-8b", 4096, 32, 8},     {"qwen3-32b", 5120, 64, 8},
                             {"llama-3.1-405b", 16384, 128, 8}, {"gpt-3-175b", 12288, 96, 96},
                             {"nemotron-3-super", 4096, 32, 2}, {"nemotron-3-ultra", 8192, 64, 2}};

std::optional<Options> parsed(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto model = std::ranges::find(kModels, argument, &Model::name);
    if (argument == "all")
      options.all = true;
    else if (argument == "tune")
      options.tune = true;
    else if (argument == "peer")
      options.peer = true;
    else if (model != std::end(kModels))
      options.models.push_back(*model);
    else
      options.M.push_back(std::atoll(argv[i]));
    if (!options.M.empty() && options.M.back() <= 0) {
      std::printf("'%s' is neither a model of the table nor a number of rows\n", argv[i]);
      return {};
    }
  }
  if (options.M.empty()) options.M = {8192};
  if (options.models.empty()) options.models.assign(std::begin(kModels), std::end(kModels));
  return options;
}

/// "| fabric | model | operation | M | P": the first columns of a line.
std::string first_columns(std::string_view fabric, const Cell& cell) {
  return "| " + std::string(fabric) + " | " + std::string(cell.model) + " | " + std::string(cell.operation.name) +
         " | " + std::to_string(cell.problem.M()) + " | " + std::to_string(cell.problem.P);
}

void time_cells(const Benchmark& benchmark, const Options& options) {
  Timer timer;
  std::printf(
      "| fabric | model | operation | M | P | regime | arm | ms | share | 10 %%-90 %% |\n"
      "|---|---|---|--:|--:|---|---|--:|--:|---|\n");
  for (const std::int64_t M : options.M)
    for (const Model& model : options.models)
      for (const char* operation : benchmark.operations)
        for (const std::int64_t P : {2, 4, 8}) {
          if (P != 8 && !options.all) continue;
          const Cell cell{
              model.name,
              *ops::find_operation(operation),
              {.P = P, .B = 1, .s = M, .H = model.H, .Hq = model.Hq, .Hk = model.Hk, .D = 128, .kv_replication = true}};
          core::Reason reason = core::refusal(cell.problem);
          if (!reason) reason = benchmark.refusal(cell.problem, cell.operation.columns);
          if (reason)
            std::printf("%s | refused: %s |\n", first_columns("emulated", cell).c_str(), reason->c_str());
          else
            benchmark.time_cell(timer, cell, options);
        }
}

}  // namespace

std::span<const Model> models() { return kModels; }

int run_benchmark(int argc, char** argv, const Benchmark& benchmark) {
  const auto options = parsed(argc, argv);
  if (!options) return 2;
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
    std::printf("SKIPPED: no GPU\n");
    return 77;
  }
  if (const auto why = ops::no_fused_kernels(device.major, device.minor)) {
    std::printf("SKIPPED: %s\n", why->c_str());
    return 77;
  }
  std::printf("%s, %d SMs\n", device.name, device.multiProcessorCount);
  try {
    time_cells(benchmark, *options);
  } catch (const std::exception& error) {
    std::printf("STOPPED: %s\n", error.what());
    return 1;
  }
  return 0;
}

void print_rows(std::string_view fabric, const Cell& cell, ops::Regime regime, const std::vector<Arm>& arms) {
  for (const Arm& arm : arms) {
    std::vector<double> share;
    for (std::size_t i = 0; i < arm.ms.size(); ++i) share.push_back(arms[0].ms[i] / arm.ms[i]);
    std::printf("%s | %s | %-24s | %.4f | %.3f | %.3f-%.3f |\n", first_columns(fabric, cell).c_str(),
                std::string(name(regime)).c_str(), arm.name.c_str(), quantile(arm.ms, 0.5), quantile(share, 0.5),
                quantile(share, 0.1), quantile(share, 0.9));
  }
  std::fflush(stdout);
}

}  // namespace megaup::cuda_tests
