/// Times the operations over the link between GPUs: the bare GEMM (cuBLASLt on all multiprocessors), every fused kernel,
/// and the native arms. Ranks are threads with a device each; started by mpirun, they are processes with a device each.
/// Where there are fewer devices than threads these share the first one, and the times say nothing about a link.
///
///   megaup_cuda_link_benchmark [WORD...] [M=ROWS...] [ranks=N] [seconds=LIMIT]
///     WORD: models of the table, operations, and duties (sustained, mixed, spaced); llama-3.1-8b, qwen3-32b and
///     llama-3.1-405b, and all of the others, unless named. M: 8192. ranks: 2, of threads. What has not begun after LIMIT
///     seconds (150) is left out and counted.
///
/// Three groups a duty, one after the other:
///   look     all fused kernels interleaved with the bare GEMM for a third of a second, which brings the devices to their
///            clocks: 2 to 20 rounds
///   kernels  those with a note and the best of the others, the same way: 7 to 60 rounds
///   arms     the native arms interleaved with the bare GEMM, the kernels with a note and the best one. Native arms leave
///            the multiprocessors idle while they exchange, so this group is cooler
///
/// ms: median over the rounds of the time of the slowest rank. share: median over the rounds of t(gemm_only) / t. MHz, W:
/// SM clock of the slower device and power of the hotter one while the group ran. Correctness is what the check programs
/// are for; a launch that does not end as it should ends this one with its reason.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/with_device.hpp>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/experiments/device_watch.hpp>

#include <link_timer_cuda.cuh>
#include <link_variants_cuda.cuh>
#include <timed_arms_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a group should run, and how often each of its variants.
struct Budget {
  std::string_view group;
  double ms;
  int rounds, most_rounds;
};
constexpr Budget kLook{"look", 330, 2, 20}, kKernels{"kernels", 800, 7, 60}, kArms{"arms", 400, 7, 60};
constexpr double kNear = 0.03;  // of the best share, in the first look
constexpr int kRounds = 15;     // of the kernels, if they are not more than these without a note:
constexpr double kFewest = 3, kMost = 12;

struct Options {
  std::vector<Model> models;
  std::vector<const ops::Operation*> operations;
  std::vector<Duty> duties;
  std::vector<std::int64_t> M;
  int ranks = 2, seconds = 150;
};

/// One model and operation on one rank.
struct Cell {
  comm::Communicator& group;
  LinkTimer& timer;
  const experiments::DeviceWatch& watch;
  std::string_view model;
  const ops::Operation& operation;
  core::Problem problem;
};

void print_row(const Cell& cell, std::string_view duty, std::string_view group, const Variant& variant,
               const Times& bare, const Times& ms, const core::DeviceState& state) {
  Times share;
  for (std::size_t i = 0; i < ms.size(); ++i) share.push_back(bare[i] / ms[i]);
  std::printf("| %s | %s | %.*s | %lld | %s | %.*s | %.*s | %s | %.4f | %.3f | %.3f-%.3f | %.0f | %.0f | %s |\n",
              std::string(cell.group.backend()).c_str(), std::string(cell.operation.name).c_str(),
              static_cast<int>(cell.model.size()), cell.model.data(), static_cast<long long>(cell.problem.M()),
              std::to_string(cell.group.size()).c_str(), static_cast<int>(duty.size()), duty.data(),
              static_cast<int>(group.size()), group.data(), variant.name.c_str(), quantile(ms, 0.5),
              quantile(share, 0.5), quantile(share, 0.1), quantile(share, 0.9), state.sm_clock_hz / 1e6, state.power_w,
              variant.note.c_str());
}

/// Of the slower and of the hotter device.
core::DeviceState state_of_all(const Cell& cell, Clock::time_point begin) {
  const core::DeviceState mine = cell.watch.during(begin, Clock::now()).value_or(core::DeviceState{});
  core::DeviceState worst{};
  worst.sm_clock_hz = std::ranges::min(cell.group.all_gather(mine.sm_clock_hz));
  worst.power_w = std::ranges::max(cell.group.all_gather(mine.power_w));
  return worst;
}

double median_share(const Times& bare, const Times& ms) {
  Times share;
  for (std::size_t i = 0; i < ms.size(); ++i) share.push_back(bare[i] / ms[i]);
  return quantile(share, 0.5);
}

/// Times the variants, of which the first is the bare GEMM, and prints them. Returns their shares.
std::vector<double> time_group(const Cell& cell, const Duty& duty, const Budget& budget,
                               const std::vector<const Variant*>& variants, double bare_ms) {
  std::vector<ops::PreparedOperation*> operations;
  for (const Variant* variant : variants) operations.push_back(variant->operation.get());
  const double round_ms = static_cast<double>(variants.size()) * (1 + duty.rest) * bare_ms;
  const int rounds = static_cast<int>(std::clamp<double>(budget.ms / round_ms, budget.rounds, budget.most_rounds));
  const auto begin = Clock::now();
  const std::vector<Times> times = cell.timer.run(operations, rounds, duty.rest * bare_ms);
  const core::DeviceState state = state_of_all(cell, begin);
  std::vector<double> shares;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    shares.push_back(median_share(times[0], times[i]));
    if (cell.group.rank() == 0) print_row(cell, duty.name, budget.group, *variants[i], times[0], times[i], state);
  }
  std::fflush(stdout);
  return shares;
}

/// The variants with a note, the first first, and the best of the others.
std::vector<const Variant*> kept(const std::vector<const Variant*>& variants, const std::vector<double>& shares,
                                 double most) {
  const double best = *std::max_element(shares.begin() + 1, shares.end());
  std::vector<const Variant*> kept;
  std::vector<std::pair<double, const Variant*>> others;
  for (std::size_t i = 0; i < variants.size(); ++i)
    if (!variants[i]->note.empty())
      kept.push_back(variants[i]);
    else if (shares[i] >= best - kNear)
      others.emplace_back(shares[i], variants[i]);
  std::ranges::stable_sort(others, std::greater(), &std::pair<double, const Variant*>::first);
  for (std::size_t i = 0; i < others.size() && static_cast<double>(i) < most; ++i) kept.push_back(others[i].second);
  return kept;
}

void time_duty(const Cell& cell, const Duty& duty, const Variant& bare, const std::vector<Variant>& kernels,
               const std::vector<Variant>& natives) {
  ops::PreparedOperation* const alone[] = {bare.operation.get()};
  const double bare_ms = quantile(cell.timer.run(alone, 5, 0).front(), 0.5);
  std::vector<const Variant*> variants{&bare};
  for (const Variant& kernel : kernels) variants.push_back(&kernel);
  std::vector<double> shares = time_group(cell, duty, kLook, variants, bare_ms);
  const double most = kKernels.ms / (kRounds * (1 + duty.rest) * bare_ms);
  variants = kept(variants, shares, std::clamp(most, kFewest, kMost));
  shares = time_group(cell, duty, kKernels, variants, bare_ms);

  const auto best = static_cast<std::size_t>(std::max_element(shares.begin() + 1, shares.end()) - shares.begin());
  std::vector<const Variant*> arms{&bare};
  for (const Variant& native : natives) arms.push_back(&native);
  for (std::size_t i = 1; i < variants.size(); ++i)
    if (i == best || !variants[i]->note.empty()) arms.push_back(variants[i]);
  time_group(cell, duty, kArms, arms, bare_ms);
}

/// Why the operation has no fused kernel here.
core::Reason no_kernel(const Cell& cell, const ops::Context& context) {
  if (auto why = core::refusal(cell.problem)) return why;
  return ops::find_arm("fused", cell.operation.kind, ops::Place::cuda)
      ->infeasible(cell.operation, cell.problem, context);
}

/// Prints on rank 0.
void say(const Cell& cell, const std::string& what) {
  if (cell.group.rank() != 0) return;
  std::printf("%.*s %s: %s\n", static_cast<int>(cell.model.size()), cell.model.data(),
              std::string(cell.operation.name).c_str(), what.c_str());
}

void time_cell(const Cell& cell, const Options& options) {
  const ops::Context context{.communicator = cell.group, .patience = std::chrono::seconds(3)};
  if (const auto why = no_kernel(cell, context)) return say(cell, "refused: " + *why);
  const auto begin = Clock::now();
  ops::Operands operands(cell.operation, cell.problem, cell.group);
  fill_inputs_on_device(operands, *cell.group.device());
  std::vector<std::string> refused;
  const Variant bare = bare_gemm(operands, context);
  const std::vector<Variant> kernels = fused_kernels(operands, context);
  const std::vector<Variant> natives = native_arms(operands, context, refused);
  for (const std::string& why : refused) say(cell, "refused: " + why);
  cell.group.barrier();
  const auto ready = Clock::now();
  for (const Duty& duty : options.duties) time_duty(cell, duty, bare, kernels, natives);
  const auto seconds = [](Clock::duration time) { return std::to_string(std::chrono::duration<double>(time).count()); };
  say(cell, std::to_string(kernels.size()) + " kernels, prepared in " + seconds(ready - begin) + " s, timed in " +
                seconds(Clock::now() - ready) + " s");
}

void time_all(comm::Communicator& host, const Options& options, bool share) {
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  const auto group = comm::with_device(host, {.share = share, .patience = std::chrono::seconds(20)});
  LinkTimer timer(*group);
  const experiments::DeviceWatch watch(*group->device());
  if (group->rank() == 0)
    std::printf(
        "%s, %s\n| ranks are | operation | model | M | P | duty | group | what | ms | share | 10 %%-90 %% | MHz | W | "
        "note |\n|---|---|---|--:|--:|---|---|---|--:|--:|---|--:|--:|---|\n",
        group->device()->describe().c_str(), std::string(group->fabric()).c_str());
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

int run(const Options& options) {
  if (const core::Reason why = core::no_cuda()) {
    std::printf("SKIPPED: %s\n", why->c_str());
    return 77;
  }
  const comm::Backend& backend = comm::select_backend("auto");
  const bool threads = backend.name == "threads";
  const bool share = threads && options.ranks > static_cast<int>(core::cuda_devices().size());
  backend.launch({.ranks = threads ? options.ranks : 0},
                 [&](comm::Communicator& host) { time_all(host, options, share); });
  return 0;
}

/// The number after `key`, if the argument begins with it.
bool number(std::string_view argument, std::string_view key, std::int64_t& value) {
  if (!argument.starts_with(key)) return false;
  argument.remove_prefix(key.size());
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), value);
  return error == std::errc() && end == argument.data() + argument.size() && value > 0;
}

bool take(Options& options, std::string_view argument) {
  if (const auto model = std::ranges::find(kModels, argument, &Model::name); model != std::end(kModels)) {
    options.models.push_back(*model);
    return true;
  }
  if (const auto duty = std::ranges::find(kDuties, argument, &Duty::name); duty != std::end(kDuties)) {
    options.duties.push_back(*duty);
    return true;
  }
  if (const ops::Operation* operation = ops::find_operation(argument)) {
    options.operations.push_back(operation);
    return true;
  }
  std::int64_t value = 0;
  if (number(argument, "M=", value)) {
    options.M.push_back(value);
    return true;
  }
  if (number(argument, "ranks=", value)) options.ranks = static_cast<int>(value);
  if (number(argument, "seconds=", value)) options.seconds = static_cast<int>(value);
  return value > 0;
}

void fill_in(Options& options) {
  if (options.models.empty()) options.models.assign(std::begin(kModels), std::begin(kModels) + 3);
  if (options.duties.empty()) options.duties.assign(std::begin(kDuties), std::end(kDuties));
  if (options.M.empty()) options.M = {8192};
  if (options.operations.empty()) options.operations.assign(ops::operations().begin(), ops::operations().end());
}

}  // namespace
}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // as megaup run sets them (docs/specs.md)
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  megaup::cuda_tests::Options options;
  for (int i = 1; i < argc; ++i)
    if (!megaup::cuda_tests::take(options, argv[i])) {
      std::printf("'%s' is no argument of this program: see the first lines of its source\n", argv[i]);
      return 2;
    }
  megaup::cuda_tests::fill_in(options);
  try {
    return megaup::cuda_tests::run(options);
  } catch (const std::exception& error) {
    if (*error.what() != '\0') std::printf("STOPPED: %s\n", error.what());  // mpi has printed it
    return 1;
  }
}
