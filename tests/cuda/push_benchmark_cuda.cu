/// Times the push kernels beside cuBLASLt and the native way, on one device with all peers' buffers on it (emulated),
/// rank 0 of P.
///   megaup_cuda_push_benchmark [all] [tune] [MODEL...] [M...]      benchmark_cuda.cuh has what is not said here
/// tune: every raster and swizzle. Arms are interleaved in one stream, each between two events, with no host
/// synchronisation inside a batch. Shares are medians over the rounds of t(cuBLASLt) / t(arm) of the same round.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark_cuda.cuh>
#include <native_steps_cuda.cuh>
#include <push_case_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

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
  const ops::PushPlan plan = ops::plan_push(c.shape, {regime, c.sms, ops::Peers::same_device, current_architecture()});
  for (const auto& kernel : ops::push_kernels()) {
    const ops::CompiledPush* row = compiled(kernel.name, c.shape.weight_transposed);
    if (row == nullptr) continue;  // not compiled in (MEGAUP_CUDA_KERNELS)
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

void time_kernels(Timer& timer, const Cell& cell, bool tune) {
  PushCase c(cell.operation, cell.problem, 0);
  c.randomise(static_cast<std::uint64_t>(cell.problem.M() + cell.problem.P));
  c.compute_expected();
  Memory plain_c(c.wide.bytes());
  for (const ops::Regime regime : {ops::Regime::sustained, ops::Regime::spaced}) {
    auto arms = make_arms(c, regime, plain_c, tune);
    timer.measure(arms, regime, tune);
    print_rows("emulated", cell, regime, arms);
  }
}

/// One-pass rates: bytes read and written over the time, for the reorders and for a plain copy of the same size.
void time_reorders(Timer& timer, const Cell& cell) {
  PushCase c(cell.operation, cell.problem, 0);
  c.randomise(7);
  Memory other(c.wide.bytes());
  std::vector<Arm> arms;
  arms.push_back({"copy", prepare_slab_copies({{other.data(), c.wide.data(), c.wide.bytes()}})});
  arms.push_back({"pack", c.pack()});
  arms.push_back({"unpack", c.unpack()});
  arms.push_back({"exchange", c.exchange()});
  timer.batch(arms, 5, 0);
  timer.batch(arms, 40, 0);
  const auto P = static_cast<double>(cell.problem.P);
  for (const Arm& arm : arms) {
    const double bytes = 2.0 * static_cast<double>(c.wide.bytes()) * (arm.name == "exchange" ? (P - 1) / P : 1.0);
    std::printf("| emulated | %s | %s | %lld | %lld | reorder | %-22s | %.4f | %.2f TB/s |\n",
                std::string(cell.model).c_str(), std::string(cell.operation.name).c_str(),
                static_cast<long long>(cell.problem.M()), static_cast<long long>(cell.problem.P), arm.name.c_str(),
                quantile(arm.ms, 0.5), bytes / quantile(arm.ms, 0.5) * 1e-9);
  }
}

void time_cell(Timer& timer, const Cell& cell, const Options& options) {
  time_kernels(timer, cell, options.tune);
  if (!options.tune) time_reorders(timer, cell);
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  return megaup::cuda_tests::run_benchmark(argc, argv,
                                           {.operations = {"qkv_fwd", "out_dgrad"},
                                            .refusal = megaup::ops::push_refusal,
                                            .time_cell = megaup::cuda_tests::time_cell});
}
