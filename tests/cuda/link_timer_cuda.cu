#include <link_timer_cuda.cuh>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include <megaup/ops/gemm_a2a/end_barrier_cuda.cuh>
#include <megaup/ops/prepared_kernel_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

// As many launches wait in the streams: more might fill a queue of the driver, which would stop the thread of another
// rank while kernels wait for its launch.
constexpr int kAhead = 16;

__global__ void rest(std::uint64_t ns) {
  const std::uint64_t end = ops::device::nanoseconds() + ns;
  while (ops::device::nanoseconds() < end) __nanosleep(1000);
}

/// Who runs when: the same on all ranks.
std::vector<std::size_t> schedule(std::size_t operations, int rounds) {
  std::minstd_rand random(1);
  std::vector<std::size_t> round(operations), all;
  std::iota(round.begin(), round.end(), std::size_t{0});
  for (int i = 0; i < rounds; ++i) {
    std::ranges::shuffle(round, random);
    all.insert(all.end(), round.begin(), round.end());
  }
  return all;
}

}  // namespace

LinkTimer::LinkTimer(comm::Communicator& group)
    : group_(group), device_(*group.device()), barrier_(group.stream_barrier()) {}

void LinkTimer::launch(ops::PreparedOperation& operation, int stamp, double rest_ms) {
  if (rest_ms > 0)
    rest<<<1, 1, 0, static_cast<cudaStream_t>(device_.stream())>>>(static_cast<std::uint64_t>(rest_ms * 1e6));
  barrier_->enqueue();
  device_.mark(stamp);
  operation.run();
  device_.mark(stamp + 1);
}

std::vector<Times> LinkTimer::run(std::span<ops::PreparedOperation* const> operations, int rounds, double rest_ms) {
  const std::vector<std::size_t> order = schedule(operations.size(), rounds);
  const int total = static_cast<int>(order.size());
  std::vector<double> mine(order.size());  // in the order of `order`
  const auto take = [&](int number) {
    const int stamp = 2 * (number % kAhead);
    device_.wait(stamp + 1);
    mine[static_cast<std::size_t>(number)] = 1e3 * device_.seconds(stamp, stamp + 1);
  };
  for (int number = 0; number < total; ++number) {
    if (number >= kAhead) take(number - kAhead);
    launch(*operations[order[static_cast<std::size_t>(number)]], 2 * (number % kAhead), rest_ms);
  }
  for (int number = std::max(0, total - kAhead); number < total; ++number) take(number);
  device_.synchronize();
  check_faults(operations);

  const std::vector<std::byte> bytes = group_.all_gather(std::as_bytes(std::span(mine)));
  const auto* of_ranks = reinterpret_cast<const double*>(bytes.data());
  std::vector<Times> times(operations.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    double slowest = 0;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(group_.size()); ++rank)
      slowest = std::max(slowest, of_ranks[rank * order.size() + i]);
    times[order[i]].push_back(slowest);
  }
  return times;
}

void LinkTimer::check_faults(std::span<ops::PreparedOperation* const> operations) {
  core::Reason fault = barrier_->fault();
  for (ops::PreparedOperation* operation : operations)
    if (auto why = operation->fault(); why && !fault) fault = why;
  const std::vector<std::string> faults = group_.all_gather(std::string_view(fault ? *fault : std::string()));
  for (std::size_t rank = 0; rank < faults.size(); ++rank)
    if (!faults[rank].empty()) throw core::Error(core::ErrorKind::cell, faults[rank], static_cast<int>(rank));
}

}  // namespace megaup::cuda_tests
