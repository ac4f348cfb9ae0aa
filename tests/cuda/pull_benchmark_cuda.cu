/// Times the pull kernels beside cuBLASLt and the native way, on one device with all peers' heads on it (emulated),
/// rank 0 of P.
///   megaup_cuda_pull_benchmark [all] [tune] [peer] [MODEL...] [M...]      benchmark_cuda.cuh has what is not said here
/// tune: every kernel and swizzle, else those that the planner finds near its choice. Arms are interleaved in one
/// stream, each between two events, with no host synchronisation inside a batch. Shares are medians over the rounds of
/// t(cuBLASLt) / t(arm) of the same round. The peers have always arrived; what rank 0 does itself is inside the time.
/// "paced": all movers together start no more than 400 GB/s, to stand for a link.
/// peer: the heads of all ranks but 0 are on device 1 and are pulled over the link between the two, unpaced.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark_cuda.cuh>
#include <megaup/ops/cublaslt_cuda.cuh>
#include <pull_case_cuda.cuh>
#include <pull_native_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

constexpr double kLinkBytesPerSecond = 400e9;
constexpr double kNear = 1.03;  // candidates that the planner predicts at most this much slower are timed too

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
    if (compiled(candidate.kernel->name, transposed) == nullptr) continue;  // not compiled in (MEGAUP_CUDA_KERNELS)
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

void time_cell(Timer& timer, const Cell& cell, const Options& options) {
  const PullWorld world(cell.operation, cell.problem, options.peer ? 1 : 0);
  const PullCase c(world, 0);
  world.randomise(static_cast<std::uint64_t>(cell.problem.M() + cell.problem.P));
  world.assume_arrived(0);
  c.randomise_weight(3);
  c.gather();
  const Memory plain_c(c.c.bytes());
  const PullNative native(c);
  for (const ops::Regime regime : {ops::Regime::sustained, ops::Regime::spaced}) {
    auto arms = make_arms(c, native, regime, plain_c, options.tune);
    timer.measure(arms, regime, options.tune);
    print_rows(options.peer ? "peer" : "emulated", cell, regime, arms);
  }
  std::uint32_t local[4];
  check(cudaMemcpy(local, c.local_words.data(), sizeof local, cudaMemcpyDeviceToHost), "flags");
  if (local[2] != 0) std::printf("LOST: %s\n", ops::pull_fault(local[2]).c_str());
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  return megaup::cuda_tests::run_benchmark(argc, argv,
                                           {.operations = {"out_fwd", "qkv_dgrad"},
                                            .refusal = megaup::ops::pull_refusal,
                                            .time_cell = megaup::cuda_tests::time_cell});
}
