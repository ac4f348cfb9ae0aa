/// Times the push kernels beside cuBLASLt and the native way, on one device with all peers' buffers on it (emulated),
/// rank 0 of P.
///   megaup_cuda_push_benchmark [all] [tune] [MODEL...] [M...]
/// all: P = 2, 4, 8 (else 8); tune: every raster and swizzle; models: all of the table below if none is named; M: 8192
/// if none is given. Arms are interleaved in one stream, each between two events, with no host synchronisation inside a
/// batch. Shares are medians over the rounds of t(cuBLASLt) / t(arm) of the same round.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <native_steps_cuda.cuh>
#include <push_case_cuda.cuh>
#include <timed_arms_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

struct Options {
  bool all = false, tune = false;
  std::vector<Model> models;
  std::vector<std::int64_t> M;
};

const ops::CompiledPush* compiled(std::string_view name, bool weight_transposed) {
  for (const ops::CompiledPush* row : ops::compiled_pushes())
    if (row->name == name && row->weight_transposed == weight_transposed) return row;
  return nullptr;
}

std::string push_name(const ops::PushCandidate& candidate) {
  return "push " + std::string(candidate.kernel->name) + "/" + std::string(name(candidate.raster)) +
         std::to_string(candidate.swizzle);
}

/// The arms of a cell: the reference first, itself again (the noise), the native way, and the push kernels; the
/// planner's choice is starred.
std::vector<Arm> make_arms(const PushCase& c, ops::Regime regime, Memory& plain_c, bool tune) {
  std::vector<Arm> arms;
  arms.push_back({"cublasLt", c.cublaslt()});
  arms.push_back({"cublasLt again", c.cublaslt()});
  if (!tune) {
    arms.push_back({"native", c.native()});
    if (auto direct = c.native_without_unpack()) arms.push_back({"native, no unpack", std::move(direct)});
  }
  const ops::PushPlan plan = ops::plan_push(c.shape, regime, c.sms);
  for (const auto& kernel : ops::push_kernels()) {
    const ops::CompiledPush* row = compiled(kernel.name, c.shape.weight_transposed);
    const ops::PushCandidate* best = nullptr;
    for (const auto& candidate : plan.candidates) {
      if (candidate.kernel != &kernel) continue;
      if (tune) arms.push_back({push_name(candidate), c.push(*row, candidate.raster, candidate.swizzle)});
      if (best == nullptr || candidate.microseconds < best->microseconds) best = &candidate;
    }
    if (tune || best == nullptr) continue;
    const bool starred = !plan.refused && plan.chosen().kernel == &kernel;
    arms.push_back({push_name(*best) + (starred ? " *" : ""), c.push(*row, best->raster, best->swizzle)});
    if (!starred) continue;
    arms.push_back({"plain of *", row->plain(c.gemm(best->raster, best->swizzle), plain_c.data())});
    ops::EndBarrier none = c.barrier();
    none.ranks = 0;
    arms.push_back({"* without barrier", c.push(*row, best->raster, best->swizzle, c.map(), none)});
  }
  return arms;
}

void print_rows(const PushCase& c, std::string_view model, ops::Regime regime, const std::vector<Arm>& arms) {
  for (const Arm& arm : arms) {
    std::vector<double> share;
    for (std::size_t i = 0; i < arm.ms.size(); ++i) share.push_back(arms[0].ms[i] / arm.ms[i]);
    std::printf("| emulated | %.*s | %s | %lld | %lld | %s | %-22s | %.4f | %.3f | %.3f-%.3f |\n",
                static_cast<int>(model.size()), model.data(), std::string(c.operation.name).c_str(),
                static_cast<long long>(c.problem.M()), static_cast<long long>(c.problem.P),
                std::string(name(regime)).c_str(), arm.name.c_str(), quantile(arm.ms, 0.5), quantile(share, 0.5),
                quantile(share, 0.1), quantile(share, 0.9));
  }
  std::fflush(stdout);
}

void time_cell(Timer& timer, std::string_view model, const ops::Operation& operation, const core::Problem& problem,
               bool tune) {
  PushCase c(operation, problem, 0);
  c.randomise(static_cast<std::uint64_t>(problem.M() + problem.P));
  c.compute_expected();
  Memory plain_c(c.wide.bytes());
  for (const ops::Regime regime : {ops::Regime::sustained, ops::Regime::spaced}) {
    auto arms = make_arms(c, regime, plain_c, tune);
    timer.measure(arms, regime, tune);
    print_rows(c, model, regime, arms);
  }
}

/// One-pass rates: bytes read and written over the time, for the reorders and for a plain copy of the same size.
void time_reorders(Timer& timer, std::string_view model, const ops::Operation& operation,
                   const core::Problem& problem) {
  PushCase c(operation, problem, 0);
  c.randomise(7);
  Memory other(c.wide.bytes());
  std::vector<Arm> arms;
  arms.push_back({"copy", prepare_slab_copies({{other.data(), c.wide.data(), c.wide.bytes()}})});
  arms.push_back({"pack", c.pack()});
  arms.push_back({"unpack", c.unpack()});
  arms.push_back({"exchange", c.exchange()});
  timer.batch(arms, 5, 0);
  timer.batch(arms, 40, 0);
  for (const Arm& arm : arms) {
    const double bytes =
        2.0 * static_cast<double>(c.wide.bytes()) *
        (arm.name == "exchange" ? static_cast<double>(problem.P - 1) / static_cast<double>(problem.P) : 1.0);
    std::printf("| emulated | %.*s | %s | %lld | %lld | reorder | %-22s | %.4f | %.2f TB/s |\n",
                static_cast<int>(model.size()), model.data(), std::string(operation.name).c_str(),
                static_cast<long long>(problem.M()), static_cast<long long>(problem.P), arm.name.c_str(),
                quantile(arm.ms, 0.5), bytes / quantile(arm.ms, 0.5) * 1e-9);
  }
}

int run(const Options& options) {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::printf("SKIPPED: no GPU of compute capability 9\n");
    return 77;
  }
  std::printf("%s, %d SMs\n", device.name, device.multiProcessorCount);
  Timer timer;
  for (const std::int64_t M : options.M)
    for (const Model& model : options.models)
      for (const char* operation : {"qkv_fwd", "out_dgrad"})
        for (const std::int64_t P : {2, 4, 8}) {
          if (P != 8 && !options.all) continue;
          const core::Problem problem{
              .P = P, .B = 1, .s = M, .H = model.H, .Hq = model.Hq, .Hk = model.Hk, .D = 128, .kv_replication = true};
          const auto& op = *ops::find_operation(operation);
          const auto reason = core::refusal(problem) ? core::refusal(problem) : ops::push_refusal(problem, op.columns);
          if (reason) {
            std::printf("| emulated | %s | %s | %lld | %lld | refused: %s |\n", std::string(model.name).c_str(),
                        operation, static_cast<long long>(M), static_cast<long long>(P), reason->c_str());
            continue;
          }
          time_cell(timer, model.name, op, problem, options.tune);
          if (!options.tune) time_reorders(timer, model.name, op, problem);
        }
  return 0;
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  using megaup::cuda_tests::kModels;
  megaup::cuda_tests::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto model = std::ranges::find(kModels, argument, &megaup::cuda_tests::Model::name);
    if (argument == "all")
      options.all = true;
    else if (argument == "tune")
      options.tune = true;
    else if (model != std::end(kModels))
      options.models.push_back(*model);
    else
      options.M.push_back(std::atoll(argv[i]));
    if (!options.M.empty() && options.M.back() <= 0) {
      std::printf("'%s' is neither a model of the table nor a number of rows\n", argv[i]);
      return 2;
    }
  }
  if (options.M.empty()) options.M = {8192};
  if (options.models.empty()) options.models.assign(std::begin(kModels), std::end(kModels));
  try {
    return megaup::cuda_tests::run(options);
  } catch (const std::exception& error) {
    std::printf("STOPPED: %s\n", error.what());
    return 1;
  }
}
