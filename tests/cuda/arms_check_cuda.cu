/// Every arm that runs on CUDA devices, through the gate: all operations and layouts, launch after launch with late ranks,
/// the same bits twice, captured graphs, several problems side by side; and that their memory is what they announce. Ranks
/// are threads, each with a device of its own, or, where there are fewer devices, with a part of one.
///
///   megaup_cuda_arms_check [seconds [ranks...]]
///     cases that have not begun after so many seconds are left out, and counted (default 600, divided among the numbers
///     of ranks); 2, 4 and 8 ranks
///   compute-sanitizer --tool memcheck megaup_cuda_arms_check sanitizer [seconds]            (and --tool racecheck)
///     few small cases on two parts of one device, default 45 s: every arm and bound of all operations with rank 0 alone,
///     then every arm through the gate, if two kernels can run at the same time under the tool
///
/// Exit: 0 all right, 1 something is wrong, 77 no device (skipped).
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
  Sections(comm::Communicator& group, Findings& findings) : group_(group), findings_(findings) {}

  void done(const char* name) const {
    if (group_.rank() == 0)
      std::printf("P %d %s: %lld checks, %lld wrong, %.1f s\n", group_.size(), name,
                  static_cast<long long>(findings_.checks), static_cast<long long>(findings_.failures),
                  std::chrono::duration<double>(Clock::now() - started_).count());
    std::fflush(stdout);
  }

 private:
  comm::Communicator& group_;
  Findings& findings_;
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
  if (share) check_solo(group, problems(group.size()).front(), 5, findings);  // solo is for ranks that share a device
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
  const bool meet = ranks_meet(group);
  if (!meet && group.rank() == 0)
    std::printf("ranks together: left out, two kernels do not run at the same time here\n");
  for (const core::Problem& problem : {plain, replicated})
    if (meet)
      each_arm([&](const ops::Operation& op, const ops::Arm& arm) { check_gate(group, {op, arm, problem}, findings); });
  section.done("together");
}

struct Request {
  int seconds = 600;
  std::vector<int> ranks{2, 4, 8};
  bool share = false;  ///< even where there are devices enough
  std::chrono::seconds device_patience{20};
  std::function<void(comm::Communicator&, bool share, Findings&)> check = check_everything;
};

Request parsed(int argc, char** argv) {
  Request request;
  const bool sanitizer = argc > 1 && std::string_view(argv[1]) == "sanitizer";
  const int first = sanitizer ? 2 : 1;
  if (sanitizer) request = {45, {2}, true, std::chrono::seconds(8), check_for_sanitizer};
  if (argc > first) request.seconds = std::atoi(argv[first]);
  if (argc > first + 1) request.ranks.clear();
  for (int i = first + 1; i < argc; ++i) request.ranks.push_back(std::atoi(argv[i]));
  return request;
}

int run(const Request& request) {
  if (const core::Reason why = core::no_cuda()) {
    std::printf("SKIPPED: %s\n", why->c_str());
    return 77;
  }
  const int devices = static_cast<int>(core::cuda_devices().size());
  Findings findings{};
  for (const int P : request.ranks) {
    findings.end = Clock::now() + std::chrono::seconds(request.seconds) / static_cast<int>(request.ranks.size());
    const bool share = request.share || P > devices;
    std::printf("P %d: %s\n", P, share ? "parts of one device" : "a device each");
    comm::select_backend("threads").launch(
        {.ranks = P, .patience = std::chrono::seconds(60)}, [&](comm::Communicator& host) {
          const auto group = comm::with_device(host, {.share = share, .patience = request.device_patience});
          request.check(*group, share, findings);
        });
  }
  for (const auto& [why, times] : findings.refusals)
    std::printf("refused %lld times, %s\n", static_cast<long long>(times), why.c_str());
  std::printf("%lld checks, %lld wrong, %lld cases left out for want of time\n",
              static_cast<long long>(findings.checks), static_cast<long long>(findings.failures),
              static_cast<long long>(findings.left_out));
  return findings.failures == 0 ? 0 : 1;
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);  // as megaup run sets them (docs/specs.md)
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  try {
    return megaup::cuda_tests::run(megaup::cuda_tests::parsed(argc, argv));
  } catch (const std::exception& error) {
    std::printf("STOPPED: %s\n", error.what());
    return 1;
  }
}
