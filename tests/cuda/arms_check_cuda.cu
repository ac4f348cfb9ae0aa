/// Every arm that runs on CUDA devices, through the gate: all operations and layouts, launch after launch with late
/// ranks, the same bits twice, captured graphs, several problems side by side; and that their memory is what they
/// announce. Ranks are threads, each with a device of its own, or, where there are fewer devices, with a part of one;
/// started by mpirun, they are processes with a device each.
///
///   megaup_cuda_arms_check [SECONDS [RANKS...]]
///     cases that have not begun after so many seconds are left out, and counted (default 600, divided among the
///     numbers of ranks); 2, 4 and 8 ranks
///   mpirun -n RANKS megaup_cuda_arms_check [SECONDS]
///     what needs ranks that share a device is left out, and counted
///   compute-sanitizer --tool memcheck megaup_cuda_arms_check sanitizer [SECONDS]            (and --tool racecheck)
///     few small cases on two parts of one device, default 45 s: every arm and bound of all operations with rank 0
///     alone, then the fused arms through the gate, if two kernels can run at the same time under the tool
///
/// Exit, the same on all ranks: 0 all right, 1 something is wrong, 77 no device (skipped); else core::exit_status of
/// what stopped it, such as 4 where a launcher's ranks find no device.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

#include <arm_cases_cuda.cuh>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/with_device.hpp>
#include <megaup/core/cuda_devices.hpp>

namespace megaup::cuda_tests {

namespace {

using Clock = std::chrono::steady_clock;

/// The sections of a run, with a line after each.
class Sections {
 public:
  Sections(comm::Communicator& group, const Findings& findings) : group_(group), findings_(findings) {}

  void done(const char* name) const {
    const Totals all = totals(group_, findings_);
    if (group_.rank() == 0)
      std::printf("P %d %s: %lld checks, %lld wrong, %.1f s\n", group_.size(), name, static_cast<long long>(all.checks),
                  static_cast<long long>(all.failures), std::chrono::duration<double>(Clock::now() - started_).count());
    std::fflush(stdout);
  }

 private:
  comm::Communicator& group_;
  const Findings& findings_;
  Clock::time_point started_ = Clock::now();
};

void check_everything(comm::Communicator& group, bool share, Findings& findings) {
  const Sections section(group, findings);
  check_refusals(group, findings);
  section.done("refusals");
  check_memory(group, share, findings);
  section.done("memory");
  check_sequences(group, findings);
  section.done("sequences");
  check_side_by_side(group, findings);
  section.done("side by side");
  if (share)
    check_solo(group, problems(group.size()).front(), 5, findings);
  else
    ++findings.left_out["rank 0 alone on the whole device: for ranks that share one"];
  section.done("solo");
  check_self_test(group, findings);
  section.done("self-test");
  check_padding(group, findings);
  section.done("padding");
  check_layouts(group, findings);  // the most cases: time may not suffice for all
  section.done("layouts");
}

/// Whether a kernel of one rank can wait for a kernel of another one: a tool may let only one run at a time.
bool ranks_meet(comm::Communicator& group) {
  const auto barrier = group.stream_barrier();
  barrier->enqueue();
  group.device()->synchronize();
  return !group.any(barrier->fault().has_value());
}

void check_for_sanitizer(comm::Communicator& group, bool, Findings& findings) {
  const Sections section(group, findings);
  const core::Problem plain{.P = group.size(), .B = 1, .s = 256, .H = 192, .Hq = 8, .Hk = 4, .D = 64};
  core::Problem replicated = plain;
  replicated.Hk = 1;
  replicated.kv_replication = true;
  for (const core::Problem& problem : {plain, replicated}) check_solo(group, problem, 2, findings);
  section.done("alone");
  // Fused arms only: under the tool a rank of native_pipelined_ce waits longer for its peers than its patience.
  if (ranks_meet(group)) {
    for (const core::Problem& problem : {plain, replicated})
      each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
        if (arm.name == "fused") check_gate(group, {op, arm, problem}, findings);
      });
  } else {
    ++findings.left_out["ranks together: two kernels do not run at the same time here"];
  }
  section.done("together");
}

struct Request {
  int seconds = 600;
  std::vector<int> ranks = {};  ///< empty: 2, 4 and 8; under a launcher all that it made
  bool share = false;           ///< even where there are devices enough
  std::chrono::seconds device_patience{20};
  std::function<void(comm::Communicator&, bool share, Findings&)> check = check_everything;
};

int positive(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0) return value;
  throw core::Error(core::ErrorKind::usage, "'" + std::string(text) + "' is no number of seconds or ranks");
}

/// Problems are made for these numbers of ranks.
void require_known(int ranks) {
  if (ranks != 2 && ranks != 4 && ranks != 8)
    throw core::Error(core::ErrorKind::usage, std::to_string(ranks) + " ranks: there are cases for 2, 4 and 8");
}

Request parsed(int argc, char** argv) {
  Request request;
  const bool sanitizer = argc > 1 && std::string_view(argv[1]) == "sanitizer";
  const int first = sanitizer ? 2 : 1;
  if (sanitizer) request = {45, {2}, true, std::chrono::seconds(8), check_for_sanitizer};
  if (argc > first) request.seconds = positive(argv[first]);
  if (argc > first + 1) request.ranks.clear();
  for (int i = first + 1; i < argc; ++i) request.ranks.push_back(positive(argv[i]));
  for (const int ranks : request.ranks) require_known(ranks);
  return request;
}

void print_counts(int ranks, const Totals& all, const Findings& findings) {
  long long left_out = 0;
  for (const auto& [why, times] : findings.refusals)
    std::printf("refused %lld times, %s\n", static_cast<long long>(times), why.c_str());
  for (const auto& [why, times] : findings.left_out) {
    std::printf("left out %lld times, %s\n", static_cast<long long>(times), why.c_str());
    left_out += times;
  }
  std::printf("P %d: %lld checks, %lld wrong, %lld cases left out\n", ranks, static_cast<long long>(all.checks),
              static_cast<long long>(all.failures), left_out);
  std::fflush(stdout);
}

/// One rank. Returns how many checks of all ranks went wrong.
std::int64_t run_rank(comm::Communicator& host, const Request& request, std::chrono::seconds time, bool share) {
  require_known(host.size());
  const auto group = comm::with_device(host, {.share = share, .patience = request.device_patience});
  if (group->rank() == 0)
    std::printf("P %d, ranks are %s, fabric %s: %s\n", group->size(), std::string(group->backend()).c_str(),
                std::string(group->fabric()).c_str(), share ? "parts of one device" : "a device each");
  Findings findings{.end = Clock::now() + time};
  request.check(*group, share, findings);
  const Totals all = totals(*group, findings);
  if (group->rank() == 0) print_counts(group->size(), all, findings);
  return all.failures;
}

int run(const Request& request) {
  const comm::Backend& backend = comm::select_backend("auto");
  const bool threads = backend.name == "threads";
  if (threads)  // a launcher's ranks agree in with_device
    if (const core::Reason why = core::no_cuda()) {
      std::printf("SKIPPED: %s\n", why->c_str());
      return 77;
    }
  std::vector<int> numbers = request.ranks;
  if (numbers.empty()) numbers = threads ? std::vector<int>{2, 4, 8} : std::vector<int>{0};
  const auto time = std::chrono::seconds(request.seconds) / static_cast<int>(numbers.size());
  std::atomic<std::int64_t> failures = 0;
  for (const int ranks : numbers) {
    const bool share = request.share || (threads && ranks > static_cast<int>(core::cuda_devices().size()));
    backend.launch({.ranks = ranks, .patience = std::chrono::seconds(60)},
                   [&](comm::Communicator& host) { failures += run_rank(host, request, time, share); });
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // as megaup run sets them (docs/specs.md)
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  try {
    return megaup::cuda_tests::run(megaup::cuda_tests::parsed(argc, argv));
  } catch (const megaup::core::Error& error) {
    if (*error.what() != '\0') std::fprintf(stderr, "STOPPED: %s\n", error.what());  // mpi has printed it
    return megaup::core::exit_status(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "STOPPED: %s\n", error.what());
    return 1;
  }
}
