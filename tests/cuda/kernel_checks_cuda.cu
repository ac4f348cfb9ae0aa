#include <graph_cuda.cuh>
#include <kernel_checks_cuda.cuh>

#include <cstdio>
#include <exception>
#include <memory>
#include <string_view>

#include <megaup/ops/fused_kernels.hpp>

namespace megaup::cuda_tests {

using ops::device::check;

void Tally::expect(bool right, const std::string& what) {
  ++checks;
  if (right) return;
  ++failures;
  std::printf("WRONG %s\n", what.c_str());
}

int run_checks(int argc, char** argv, void (*checks)(CaseSet, Tally&)) {
  const std::string_view set = argc > 1 ? argv[1] : "";
  if (!set.empty() && set != "tiny" && set != "small") {
    std::printf("'%s' is no set: tiny or small, or nothing for all\n", argv[1]);
    return 2;
  }
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) {
    std::printf("SKIPPED: no GPU\n");
    return 77;
  }
  if (const auto why = ops::no_fused_kernels(device.major, device.minor)) {
    std::printf("SKIPPED: %s\n", why->c_str());
    return 77;
  }
  Tally tally;
  try {
    checks(set == "tiny" ? CaseSet::tiny : set == "small" ? CaseSet::small : CaseSet::all, tally);
  } catch (const std::exception& error) {
    std::printf("STOPPED: %s\n", error.what());
    return 1;
  }
  std::printf("%d checks, %d wrong; %d problems refused by name\n", tally.checks, tally.failures, tally.refusals);
  return tally.failures == 0 ? 0 : 1;
}

std::string in_words(const ops::Operation& operation, const core::Problem& p, std::int64_t rank) {
  return std::string(operation.name) + " P=" + std::to_string(p.P) + " r=" + std::to_string(rank) +
         " B=" + std::to_string(p.B) + " M=" + std::to_string(p.M()) + " Hq=" + std::to_string(p.Hq) +
         " Hk=" + std::to_string(p.Hk) + " D=" + std::to_string(p.D) + " " + std::string(name(p.format)) + " " +
         std::string(name(p.order)) + " " + std::string(name(p.qkv_weight));
}

std::vector<core::Problem> layout_problems(CaseSet set, std::int64_t H, std::span<const Heads> heads) {
  const bool small = set != CaseSet::all;
  std::vector<core::Problem> problems;
  for (const auto format : {core::ActivationFormat::sbhd, core::ActivationFormat::bshd, core::ActivationFormat::thd})
    for (const auto order : {core::SequenceOrder::contiguous, core::SequenceOrder::dual_chunk})
      for (const auto weight : {core::QkvWeight::grouped, core::QkvWeight::concatenated})
        for (const std::int64_t P : {2, 4, 8}) {
          if (small && (P != 4 || weight == core::QkvWeight::concatenated)) continue;
          for (const auto& [Hq, Hk, D] : heads) {
            if (small && (Hq != 16 || D != 128)) continue;
            problems.push_back({.P = P,
                                .B = 2,
                                .s = small ? 256 : 768,
                                .H = small ? 128 : H,
                                .Hq = Hq,
                                .Hk = Hk,
                                .D = D,
                                .format = format,
                                .order = order,
                                .qkv_weight = weight,
                                .kv_replication = true});
          }
        }
  return problems;
}

void replay_as_graph(const ops::PreparedKernel& kernel, int replays) {
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "stream");
  const std::unique_ptr<CUstream_st, decltype(&cudaStreamDestroy)> stream(made, cudaStreamDestroy);
  const Graph graph(made, 1, [&] { kernel.run(made); });
  check(cudaDeviceSynchronize(), "what was enqueued before");  // in other streams
  for (int replay = 0; replay < replays; ++replay) graph.replay();
  check(cudaStreamSynchronize(made), "replays");
}

}  // namespace megaup::cuda_tests
