/// Times the operations over the link between GPUs: the bare GEMM (cuBLASLt on all multiprocessors), every fused kernel,
/// and the native arms. Ranks are threads with a device each; started by mpirun, they are processes with a device each.
/// Where there are fewer devices than threads these share the first one, and the times say nothing about a link.
///
///   megaup_cuda_link_benchmark [WORD...] [M=ROWS...] [ranks=N] [seconds=LIMIT]
///     WORD: models of the table, operations, and duties; llama-3.1-8b, qwen3-32b and llama-3.1-405b, and all of the
///     others, unless named. M: 8192. ranks: 2, of threads. What has not begun after LIMIT seconds (300) is left out and
///     counted.
///
/// Duties:
///   blocked    every variant alone, back to back: 0.4 s that do not count, then 50 launches or 0.1 s. At its power limit a
///              device then pays for the energy of this variant. The bare GEMM comes first and last
///   sustained  variants interleaved, back to back: they share the clock that their mean power allows
///   mixed      the same, the devices rest before each launch for half of the time of the bare GEMM
///   spaced     four times that: the clock stays at its highest
/// Three groups of an interleaved duty, one after the other:
///   look     all fused kernels and the bare GEMM for a third of a second: 2 to 20 rounds, after a first that does not count
///   kernels  those with a note and the best of the others, the same way: 7 to 60 rounds
///   arms     the native arms interleaved with the bare GEMM, the kernels with a note and the best one. Native arms leave
///            the multiprocessors idle while they exchange, so this group is cooler
///
/// ms: median over the rounds of the time of the slowest rank; of ranks: median of each. share: median of t(gemm_only) / t
/// of the same round (blocked: of the median of its first block). MHz: mean SM clock of the slower device, from the
/// counters of the multiprocessors. W: mean of the devices, as NVML said meanwhile, which looks back about a second: in the
/// first lines it is too low; mJ: W * ms. Correctness is what the check programs are for; a launch that does not end as
/// it should ends this one with its reason.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/with_device.hpp>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/experiments/device_watch.hpp>

#include <benchmark_cuda.cuh>
#include <link_timer_cuda.cuh>
#include <link_variants_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

using Clock = std::chrono::steady_clock;

/// How long the devices rest before each launch, in times of the bare GEMM.
struct Duty {
  std::string_view name;
  double rest;
  bool blocked = false;
};
constexpr Duty kDuties[] = {{"blocked", 0, true}, {"sustained", 0}, {"mixed", 0.5}, {"spaced", 4}};

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
constexpr double kHeatMs = 400, kAloneMs = 100;
constexpr int kAloneLaunches = 50;

struct LinkOptions {
  std::vector<Model> models;
  std::vector<const ops::Operation*> operations;
  std::vector<Duty> duties;
  std::vector<std::int64_t> M;
  int ranks = 2, seconds = 300;
};

/// One model and operation on one rank.
struct LinkCell {
  comm::Communicator& group;
  LinkTimer& timer;
  const experiments::DeviceWatch& watch;
  std::string_view model;
  const ops::Operation& operation;
  core::Problem problem;
};

/// One line of the table.
struct Row {
  const Duty& duty;
  std::string_view group;
  const Variant& variant;
  const Timed::Operation& timed;
  Times share;
  double clock_hz, power_w;
};

void print(const LinkCell& cell, const Row& row) {
  if (cell.group.rank() != 0) return;
  std::string ranks;
  for (const double ms : row.timed.rank_medians) {
    char text[32];
    std::snprintf(text, sizeof text, "%s%.4f", ranks.empty() ? "" : " ", ms);
    ranks += text;
  }
  const double ms = quantile(row.timed.ms, 0.5);
  std::printf("| %s | %s | %s | %lld | %s | %s | %s | %.4f | %s | %.3f | %.3f-%.3f | %.0f | %.0f | %.0f | %s |\n",
              std::string(cell.group.backend()).c_str(), std::string(cell.operation.name).c_str(),
              std::string(cell.model).c_str(), static_cast<long long>(cell.problem.M()),
              std::string(row.duty.name).c_str(), std::string(row.group).c_str(), row.variant.name.c_str(), ms,
              ranks.c_str(), quantile(row.share, 0.5), quantile(row.share, 0.1), quantile(row.share, 0.9),
              row.clock_hz / 1e6, row.power_w, row.power_w * ms, row.variant.note.c_str());
}

/// Mean of the devices; NaN where NVML has not answered.
double power_w(const LinkCell& cell, Clock::time_point begin) {
  const auto mine = cell.watch.during(begin, Clock::now());
  const auto all = cell.group.all_gather(mine ? mine->power_w : std::numeric_limits<double>::quiet_NaN());
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

Times shares(const Times& bare, const Times& ms) {
  Times shares;
  for (std::size_t i = 0; i < ms.size(); ++i) shares.push_back(bare[i] / ms[i]);
  return shares;
}

// --- interleaved -----------------------------------------------------------------------------------------------------

/// Times the variants, of which the first is the bare GEMM, and prints them. Returns their median shares.
std::vector<double> time_group(const LinkCell& cell, const Duty& duty, const Budget& budget,
                               const std::vector<const Variant*>& variants, double bare_ms) {
  std::vector<ops::PreparedOperation*> operations;
  for (const Variant* variant : variants) operations.push_back(variant->operation.get());
  const double round_ms = static_cast<double>(variants.size()) * (1 + duty.rest) * bare_ms;
  const int rounds = static_cast<int>(std::clamp<double>(budget.ms / round_ms, budget.rounds, budget.most_rounds));
  const auto begin = Clock::now();
  const Timed timed = cell.timer.run(operations, {1, rounds, duty.rest * bare_ms});
  const double power = power_w(cell, begin);
  std::vector<double> medians;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Times share = shares(timed.operations[0].ms, timed.operations[i].ms);
    print(cell, {duty, budget.group, *variants[i], timed.operations[i], share, timed.clock_hz, power});
    medians.push_back(quantile(share, 0.5));
  }
  std::fflush(stdout);
  return medians;
}

/// The variants with a note, the first first, and the best of the others.
std::vector<const Variant*> kept(const std::vector<const Variant*>& variants, const std::vector<double>& share,
                                 double most) {
  const double best = *std::max_element(share.begin() + 1, share.end());
  std::vector<const Variant*> kept;
  std::vector<std::pair<double, const Variant*>> others;
  for (std::size_t i = 0; i < variants.size(); ++i)
    if (!variants[i]->note.empty())
      kept.push_back(variants[i]);
    else if (share[i] >= best - kNear)
      others.emplace_back(share[i], variants[i]);
  std::ranges::stable_sort(others, std::greater(), &std::pair<double, const Variant*>::first);
  for (std::size_t i = 0; i < others.size() && static_cast<double>(i) < most; ++i) kept.push_back(others[i].second);
  return kept;
}

void time_interleaved(const LinkCell& cell, const Duty& duty, const Variant& bare, const std::vector<Variant>& kernels,
                      const std::vector<Variant>& natives) {
  ops::PreparedOperation* const alone[] = {bare.operation.get()};
  const double bare_ms = quantile(cell.timer.run(alone, {1, 5}).operations[0].ms, 0.5);
  std::vector<const Variant*> variants{&bare};
  for (const Variant& kernel : kernels) variants.push_back(&kernel);
  std::vector<double> share = time_group(cell, duty, kLook, variants, bare_ms);
  const double most = kKernels.ms / (kRounds * (1 + duty.rest) * bare_ms);
  variants = kept(variants, share, std::clamp(most, kFewest, kMost));
  share = time_group(cell, duty, kKernels, variants, bare_ms);

  const auto best = static_cast<std::size_t>(std::max_element(share.begin() + 1, share.end()) - share.begin());
  std::vector<const Variant*> arms{&bare};
  for (const Variant& native : natives) arms.push_back(&native);
  for (std::size_t i = 1; i < variants.size(); ++i)
    if (i == best || !variants[i]->note.empty()) arms.push_back(variants[i]);
  time_group(cell, duty, kArms, arms, bare_ms);
}

// --- blocked ---------------------------------------------------------------------------------------------------------

/// Prints the variant, with shares of a median of the bare GEMM; that of the variant itself if it is 0. Returns the
/// median.
double time_alone(const LinkCell& cell, const Duty& duty, const Variant& variant, double bare_ms) {
  ops::PreparedOperation* const alone[] = {variant.operation.get()};
  const double ms = quantile(cell.timer.run(alone, {1, 3}).operations[0].ms, 0.5);
  const auto begin = Clock::now();
  const int launches = std::max(kAloneLaunches, static_cast<int>(kAloneMs / ms));
  const Timed timed = cell.timer.run(alone, {static_cast<int>(kHeatMs / ms), launches});
  const double power = power_w(cell, begin);
  const Timed::Operation& operation = timed.operations[0];
  const double median = quantile(operation.ms, 0.5);
  const Times bare(operation.ms.size(), bare_ms > 0 ? bare_ms : median);
  print(cell, {duty, "alone", variant, operation, shares(bare, operation.ms), timed.clock_hz, power});
  return median;
}

void time_blocked(const LinkCell& cell, const Duty& duty, const Variant& bare, const std::vector<Variant>& kernels,
                  const std::vector<Variant>& natives) {
  const double bare_ms = time_alone(cell, duty, bare, 0);
  for (const std::vector<Variant>* variants : {&kernels, &natives})
    for (const Variant& variant : *variants)
      if (variant.alone) time_alone(cell, duty, variant, bare_ms);
  time_alone(cell, duty, bare, bare_ms);
  std::fflush(stdout);
}

// --- cells -----------------------------------------------------------------------------------------------------------

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

bool take(LinkOptions& options, std::string_view argument) {
  if (const auto model = std::ranges::find(models(), argument, &Model::name); model != models().end()) {
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

void fill_in(LinkOptions& options) {
  if (options.models.empty()) options.models.assign(models().begin(), models().begin() + 3);
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
  megaup::cuda_tests::LinkOptions options;
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
