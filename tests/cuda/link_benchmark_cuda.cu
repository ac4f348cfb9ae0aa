/// Times the operations over the link between GPUs: the bare GEMM (cuBLASLt on all multiprocessors), every fused
/// kernel, and the native arms. Ranks are threads with a device each; started by mpirun, they are processes with a
/// device each. Where there are fewer devices than threads these share the first one, and no link is timed.
///
///   megaup_cuda_link_benchmark [WORD...] [M=ROWS...] [ranks=N] [seconds=LIMIT]
///     WORD: models of the table, operations, and duties; llama-3.1-8b, qwen3-32b and llama-3.1-405b, and all of the
///     others, unless named. M: 8192. ranks: 2, of threads. What has not begun after LIMIT seconds (300) is left out
///     and counted.
///
/// Duties:
///   blocked    every variant alone, back to back: 0.4 s that do not count, then 50 launches or 0.1 s. At its power
///              limit a device then pays for the energy of this variant. The bare GEMM comes first and last
///   sustained  variants interleaved, back to back: they share the clock that their mean power allows
///   mixed      the same, the devices rest before each launch for half of the time of the bare GEMM
///   spaced     four times that: the clock stays at its highest
/// Three groups of an interleaved duty, one after the other:
///   look     all fused kernels and the bare GEMM for a third of a second: 2 to 20 rounds, after a first that does not
///            count
///   kernels  those with a note and the best of the others, the same way: 7 to 60 rounds
///   arms     the native arms interleaved with the bare GEMM, the kernels with a note and the best one. Native arms
///            leave the multiprocessors idle while they exchange, so this group is cooler
///
/// ms: median over the rounds of the time of the slowest rank; of ranks: median of each. share: median of t(gemm_only)
/// / t of the same round (blocked: of the median of its first block). MHz: mean SM clock of the slower device, from the
/// counters of the multiprocessors. W: mean of the devices, as NVML said meanwhile, which looks back about a second: in
/// the first lines it is too low; mJ: W * ms. Correctness is what the check programs are for; a launch that does not
/// end as it should ends this one with its reason.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/with_device.hpp>
#include <megaup/core/cuda_devices.hpp>

#include <link_duties_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

using Clock = std::chrono::steady_clock;

/// Why the operation has no fused kernel here.
core::Reason no_kernel(const LinkCell& cell, const ops::Context& context) {
  if (auto why = core::refusal(cell.problem)) return why;
  return ops::find_arm("fused", cell.operation.kind, ops::Place::cuda)
      ->infeasible(cell.operation, cell.problem, context);
}

/// Prints on rank 0.
void say(const LinkCell& cell, const std::string& what) {
  if (cell.group.rank() != 0) return;
  std::printf("%.*s %s: %s\n", static_cast<int>(cell.model.size()), cell.model.data(),
              std::string(cell.operation.name).c_str(), what.c_str());
}

void time_cell(const LinkCell& cell, const LinkOptions& options) {
  const ops::Context context{.communicator = cell.group, .patience = std::chrono::seconds(3)};
  if (const auto why = no_kernel(cell, context)) return say(cell, "refused: " + *why);
  const auto begin = Clock::now();
  ops::Operands operands(cell.operation, cell.problem, cell.group);
  fill_inputs_on_device(operands, *cell.group.device());
  std::vector<std::string> refused;
  const Variant bare = bare_gemm(operands, context);
  const std::vector<Variant> kernels = fused_kernels(operands, context);
  if (kernels.empty()) return say(cell, "refused: none of its fused kernels is compiled in (MEGAUP_CUDA_KERNELS)");
  const std::vector<Variant> natives = native_arms(operands, context, refused);
  for (const std::string& why : refused) say(cell, "refused: " + why);
  cell.group.barrier();
  const auto ready = Clock::now();
  for (const Duty& duty : options.duties)
    (duty.blocked ? time_blocked : time_interleaved)(cell, duty, bare, kernels, natives);
  const auto seconds = [](Clock::duration time) { return std::to_string(std::chrono::duration<double>(time).count()); };
  say(cell, std::to_string(kernels.size()) + " kernels, prepared in " + seconds(ready - begin) + " s, timed in " +
                seconds(Clock::now() - ready) + " s");
}

void time_all(comm::Communicator& host, const LinkOptions& options, bool share) {
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  const auto group = comm::with_device(host, {.share = share, .patience = std::chrono::seconds(20)});
  LinkTimer timer(*group);
  const experiments::DeviceWatch watch(*group->device());
  if (group->rank() == 0)
    std::printf(
        "%s, %s, %d ranks\n| ranks are | operation | model | M | duty | group | what | ms | of ranks | share | "
        "10 %%-90 %% | MHz | W | mJ | note |\n|---|---|---|--:|---|---|---|--:|---|--:|---|--:|--:|--:|---|\n",
        group->device()->describe().c_str(), std::string(group->fabric()).c_str(), group->size());
  int left_out = 0;
  for (const std::int64_t M : options.M)
    for (const Model& model : options.models)
      for (const ops::Operation* operation : options.operations) {
        if (group->any(Clock::now() > end)) {
          ++left_out;
          continue;
        }
        const core::Problem problem{.P = group->size(),
                                    .B = 1,
                                    .s = M,
                                    .H = model.H,
                                    .Hq = model.Hq,
                                    .Hk = model.Hk,
                                    .D = 128,
                                    .kv_replication = true};
        time_cell({*group, timer, watch, model.name, *operation, problem}, options);
      }
  if (group->rank() == 0 && left_out > 0) std::printf("%d cells left out for want of time\n", left_out);
}

int run(const LinkOptions& options) {
  const comm::Backend& backend = comm::select_backend("auto");
  const bool threads = backend.name == "threads";
  if (threads)  // a launcher's ranks agree in with_device
    if (const core::Reason why = core::no_cuda()) {
      std::printf("SKIPPED: %s\n", why->c_str());
      return 77;
    }
  const bool share = threads && options.ranks > static_cast<int>(core::cuda_devices().size());
  backend.launch({.ranks = threads ? options.ranks : 0},
                 [&](comm::Communicator& host) { time_all(host, options, share); });
  return 0;
}

}  // namespace
}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // as megaup run sets them (docs/specs.md)
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  try {
    return megaup::cuda_tests::run(megaup::cuda_tests::link_options({argv + 1, argv + argc}));
  } catch (const megaup::core::Error& error) {
    if (*error.what() != '\0') std::fprintf(stderr, "STOPPED: %s\n", error.what());  // mpi has printed it
    return megaup::core::exit_status(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "STOPPED: %s\n", error.what());
    return 1;
  }
}
