#include <arm_cases_cuda.cuh>

#include <algorithm>
#include <cstdlib>

#include <megaup/ops/prepared_kernel_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

/// Every buffer but tables, flags and the GEMM's workspace is a multiple of what the driver gives out (2 MiB), and none
/// is smaller than kSlack: a buffer too few, or too many, shows.
constexpr std::int64_t kSlack = std::int64_t{8} << 20;
/// What other processes map is whole allocations of their own, each rounded up: 14 MiB more in all for three exchanges.
constexpr std::int64_t kMappedSlack = std::int64_t{16} << 20;

core::Problem large(std::int64_t P) { return {.P = P, .B = 1, .s = 8192, .H = 2048, .Hq = 16, .Hk = 16, .D = 128}; }

/// What the driver says is taken on this rank's device, when no rank is busy. On ranks that share a device: a rank's
/// part.
class DeviceUse {
 public:
  DeviceUse(comm::Communicator& group, bool share) : group_(group), sharers_(share ? group.size() : 1) {}

  std::int64_t bytes() const {
    group_.device()->synchronize();
    group_.peer_memory(1, 0);  // processes give back what others had mapped in the next call only
    group_.barrier();
    std::size_t free = 0, total = 0;
    ops::device::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    group_.barrier();  // no rank goes on before all have looked
    return static_cast<std::int64_t>(total - free) / sharers_;
  }

 private:
  comm::Communicator& group_;
  std::int64_t sharers_;
};

std::string mib(std::int64_t bytes) {
  return std::to_string(bytes >> 20) + "." + std::to_string((bytes >> 10) % 1024 * 10 / 1024) + " MiB";
}

void judge(comm::Communicator& group, const std::string& what, std::int64_t allocated, std::int64_t announced,
           bool at_most, Findings& findings) {
  const std::int64_t most = announced + kSlack + (group.backend() == "threads" ? 0 : kMappedSlack);
  const bool right = allocated <= most && (at_most || allocated >= announced - kSlack);
  findings.expect(right, what + " on rank " + std::to_string(group.rank()) + " allocates " + mib(allocated) +
                             " of the device and announces " + mib(announced));
}

/// NCCL has one set of receive buffers where peer copies have two, and the plan does not know which it will be.
bool needs_less(const ops::PreparedOperation& prepared) {
  const core::Attributes choices = prepared.choices();
  const auto found = choices.find("exchange");
  return found != choices.end() && std::get<std::string>(found->second).starts_with("nccl");
}

void check_arm(comm::Communicator& group, const Case& c, ops::Operands& operands, const DeviceUse& use,
               Findings& findings) {
  if (!begins(group, c, findings)) return;
  const auto prepare = [&] { return c.arm.prepare(operands, {.communicator = group, .patience = findings.patience}); };
  const auto run_twice = [&](ops::PreparedOperation& prepared) {
    for (int launch = 0; launch < 2; ++launch) prepared.run();
  };
  {  // once before: libraries keep what they load
    const auto first = unless_refused(group, c, findings, prepare);
    if (!first) return;
    run_twice(*first);
    use.bytes();  // no rank lets go while a peer still works
  }
  const std::int64_t before = use.bytes();
  const auto prepared = prepare();
  const std::int64_t after = use.bytes();
  judge(group, c.words(), after - before, c.arm.workspace_bytes(c.op, c.problem, "cublaslt"), needs_less(*prepared),
        findings);
  run_twice(*prepared);
  const std::int64_t grown = use.bytes() - after;
  findings.expect(std::abs(grown) < kSlack, c.words() + ": its launches allocate " + mib(grown));
}

}  // namespace

void check_memory(comm::Communicator& group, bool share, Findings& findings) {
  const DeviceUse use(group, share);
  const core::Problem problem = large(group.size());
  for (const ops::Operation* op : ops::operations()) {
    const std::int64_t before = use.bytes();
    ops::Operands operands(*op, problem, group);
    judge(group, "operands of " + std::string(op->name), use.bytes() - before, ops::Operands::bytes(*op, problem),
          false, findings);
    each_arm(
        [&](const ops::Operation& each, const ops::Arm& arm) {
          if (&each == op) check_arm(group, {each, arm, problem}, operands, use, findings);
        },
        true);
    use.bytes();
  }
}

}  // namespace megaup::cuda_tests
