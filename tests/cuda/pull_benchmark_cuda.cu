/// Times the pull kernels beside cuBLASLt and the native way, on one device with all peers' heads on it (emulated),
/// rank 0 of P.
///   megaup_cuda_pull_benchmark [all] [tune] [peer] [MODEL...] [M...]
/// all: P = 2, 4, 8 (else 8); tune: every kernel and swizzle, else those that the planner finds near its choice; models:
/// all of the table below if none is named; M: 8192 if none is given. Arms are interleaved in one stream, each between
/// two events, with no host synchronisation inside a batch. Shares are medians over the rounds of t(cuBLASLt) / t(arm)
/// of the same round. The peers have always arrived; what rank 0 does itself is inside the time. "paced": all movers
/// together start no more than 400 GB/s, to stand for a link.
/// peer: the heads of all ranks but 0 are on device 1 and are pulled over the link between the two, unpaced.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/ops/cublaslt_cuda.cuh>
#include <pull_case_cuda.cuh>
#include <pull_native_cuda.cuh>
#include <timed_arms_cuda.cuh>

namespace megaup::pull_tests {

using cuda_tests::Arm, cuda_tests::kModels, cuda_tests::Model, cuda_tests::quantile, cuda_tests::Timer;

namespace {

constexpr double kLinkBytesPerSecond = 400e9;
constexpr double kNear = 1.03;  // candidates that the planner predicts at most this much slower are timed too

struct Options {
  bool all = false, tune = false, peer = false;
  std::vector<Model> models;
  std::vector<std::int64_t> M;
};

const ops::CompiledPull* compiled(std::string_view name, bool weight_transposed) {
  for (const ops::CompiledPull* row : ops::compiled_pulls())
    if (row->name == name && row->weight_transposed == weight_transposed) return row;
  return nullptr;
}

std::shared_ptr<ops::PreparedKernel> pull(const PullCase& c, const ops::PullCandidate& candidate,
                                          const ops::PullMoves& moves, double bytes_per_second) {
  ops::PullFlags flags = c.flags();
  if (bytes_per_second > 0) flags.pace_ns = static_cast<std::uint32_t>(2048.0 * c.sms / bytes_per_second * 1e9 + 0.5);
  return compiled(candidate.kernel->name, c.shape.weight_transposed)
      ->pull(c.gemm(candidate.swizzle), c.map(), moves, c.pull_heads(), flags);
}

std::string pull_name(const ops::PullCandidate& candidate) {
  return std::string(candidate.kernel->name) + "/N" + std::to_string(candidate.swizzle);
}

/// The arms of a cell: the reference first, itself again (the noise), the native way, and the pull kernels; the
/// planner's choice is starred, and also runs unpaced and as the plain GEMM of the same kernel.
std::vector<Arm> make_arms(const PullCase& c, const PullNative& native, ops::Regime regime, const Memory& plain_c,
                           bool tune) {
  std::vector<Arm> arms;
  const bool transposed = c.shape.weight_transposed;
  const auto matrix = [](const Memory& memory, std::int64_t rows, std::int64_t columns) {
    return core::Bf16Matrix{static_cast<core::Bf16*>(memory.data()), rows, columns, columns};
  };
  const ops::LtGemm lt{.a = matrix(c.wide, c.shape.m, c.shape.k),
                       .b = matrix(c.weight, transposed ? c.shape.n : c.shape.k, transposed ? c.shape.k : c.shape.n),
                       .c = matrix(plain_c, c.shape.m, c.shape.n),
                       .weight_transposed = transposed};
  arms.push_back({"cublasLt", ops::CublasLt().prepare(lt, nullptr)});
  arms.push_back({"cublasLt again", ops::CublasLt().prepare(lt, nullptr)});
  if (!tune) {
    const std::shared_ptr<ops::PreparedKernel> gemm = ops::CublasLt().prepare(lt, nullptr);
    arms.push_back({"native", native.with(gemm)});
    if (auto direct = native.without_pack(gemm)) arms.push_back({"native, no pack", std::move(direct)});
  }
  const ops::PullPlan plan = c.plan(regime);
  for (const auto& candidate : plan.candidates) {
    const double rate = c.world.elsewhere != 0 ? 0 : kLinkBytesPerSecond;
    const bool chosen = &candidate == &plan.chosen();
    if (!tune && candidate.microseconds > kNear * plan.chosen().microseconds) continue;
    arms.push_back({(rate > 0 ? "paced " : "pull ") + pull_name(candidate) + (chosen ? " *" : ""),
                    pull(c, candidate, candidate.moves, rate)});
    if (!chosen) continue;
    if (rate > 0) arms.push_back({"unpaced *", pull(c, candidate, candidate.moves, 0)});
    ops::PullGemm plain = c.gemm(candidate.swizzle);
    plain.c = plain_c.data();
    arms.push_back({"plain *", compiled(candidate.kernel->name, transposed)->plain(plain, c.wide.data())});
  }
  return arms;
}

void print_rows(const PullCase& c, std::string_view model, ops::Regime regime, const std::vector<Arm>& arms) {
  for (const Arm& arm : arms) {
    std::vector<double> share;
    for (std::size_t i = 0; i < arm.ms.size(); ++i) share.push_back(arms[0].ms[i] / arm.ms[i]);
    std::printf("| %s | %.*s | %s | %lld | %lld | %s | %-24s | %.4f | %.3f | %.3f-%.3f |\n",
                c.world.elsewhere != 0 ? "peer" : "emulated", static_cast<int>(model.size()), model.data(),
                std::string(c.world.operation.name).c_str(), static_cast<long long>(c.world.problem.M()),
                static_cast<long long>(c.world.problem.P), std::string(name(regime)).c_str(), arm.name.c_str(),
                quantile(arm.ms, 0.5), quantile(share, 0.5), quantile(share, 0.1), quantile(share, 0.9));
  }
  std::fflush(stdout);
}

void time_cell(Timer& timer, std::string_view model, const ops::Operation& operation, const core::Problem& problem,
               bool tune, int elsewhere) {
  const PullWorld world(operation, problem, elsewhere);
  const PullCase c(world, 0);
  world.randomise(static_cast<std::uint64_t>(problem.M() + problem.P));
  world.assume_arrived(0);
  c.randomise_weight(3);
  c.gather();
  const Memory plain_c(c.c.bytes());
  const PullNative native(c);
  for (const ops::Regime regime : {ops::Regime::sustained, ops::Regime::spaced}) {
    auto arms = make_arms(c, native, regime, plain_c, tune);
    timer.measure(arms, regime, tune);
    print_rows(c, model, regime, arms);
  }
  std::uint32_t local[4];
  check(cudaMemcpy(local, c.local_words.data(), sizeof local, cudaMemcpyDeviceToHost), "flags");
  if (local[2] != 0) std::printf("LOST: %s\n", ops::pull_fault(local[2]).c_str());
}

int run(const Options& options) {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::printf("SKIPPED: no GPU of compute capability 9\n");
    return 77;
  }
  Timer timer;
  std::printf("%s\n", device.name);
  std::printf(
      "| fabric | model | operation | M | P | regime | arm | ms | share | 10 %%-90 %% |\n"
      "|---|---|---|--:|--:|---|---|--:|--:|---|\n");
  for (const std::int64_t M : options.M)
    for (const Model& model : options.models)
      for (const char* operation : {"out_fwd", "qkv_dgrad"})
        for (const std::int64_t P : {2, 4, 8}) {
          if (P != 8 && !options.all) continue;
          const core::Problem problem{
              .P = P, .B = 1, .s = M, .H = model.H, .Hq = model.Hq, .Hk = model.Hk, .D = 128, .kv_replication = true};
          const auto& op = *ops::find_operation(operation);
          const auto reason = core::refusal(problem) ? core::refusal(problem) : ops::pull_refusal(problem, op.columns);
          if (reason) {
            std::printf("| emulated | %s | %s | %lld | %lld | refused: %s |\n", std::string(model.name).c_str(),
                        operation, static_cast<long long>(M), static_cast<long long>(P), reason->c_str());
            continue;
          }
          time_cell(timer, model.name, op, problem, options.tune, options.peer ? 1 : 0);
        }
  return 0;
}

}  // namespace

}  // namespace megaup::pull_tests

int main(int argc, char** argv) {
  using megaup::cuda_tests::kModels;
  megaup::pull_tests::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto model = std::ranges::find(kModels, argument, &megaup::cuda_tests::Model::name);
    if (argument == "all")
      options.all = true;
    else if (argument == "peer")
      options.peer = true;
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
    return megaup::pull_tests::run(options);
  } catch (const std::exception& error) {
    std::printf("STOPPED: %s\n", error.what());
    return 1;
  }
}
