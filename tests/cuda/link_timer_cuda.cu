#include <link_timer_cuda.cuh>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include <megaup/comm/cuda/await_cuda.cuh>
#include <megaup/ops/prepared_kernel_cuda.cuh>
#include <timed_arms_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

// As many launches wait in the streams: more might fill a queue of the driver, which would stop the thread of another
// rank while kernels wait for its launch.
constexpr int kAhead = 16;
constexpr int kMostMultiprocessors = 512;

__global__ void rest(std::uint64_t ns) {
  const std::uint64_t end = comm::device::nanoseconds() + ns;
  while (comm::device::nanoseconds() < end) __nanosleep(1000);
}

/// What the counter of one multiprocessor said, and when. Zeros: nobody asked it.
struct Clock {
  std::uint64_t cycles, ns;
};

__global__ void read(Clock* clocks) {
  std::uint32_t multiprocessor;
  std::uint64_t cycles;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
  if (multiprocessor < kMostMultiprocessors) clocks[multiprocessor] = {cycles, comm::device::nanoseconds()};
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

/// times: [rank][order.size()].
std::vector<Timed::Operation> by_operation(std::size_t operations, const std::vector<std::size_t>& order,
                                           std::span<const double> times) {
  const std::size_t ranks = times.size() / order.size();
  std::vector<Timed::Operation> all(operations);
  std::vector<std::vector<Times>> of_ranks(operations, std::vector<Times>(ranks));
  for (std::size_t i = 0; i < order.size(); ++i) {
    double slowest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const double ms = times[rank * order.size() + i];
      slowest = std::max(slowest, ms);
      of_ranks[order[i]][rank].push_back(ms);
    }
    all[order[i]].ms.push_back(slowest);
  }
  for (std::size_t operation = 0; operation < operations; ++operation)
    for (const Times& ms : of_ranks[operation]) all[operation].rank_medians.push_back(quantile(ms, 0.5));
  return all;
}

}  // namespace

LinkTimer::LinkTimer(comm::Communicator& group)
    : group_(group),
      device_(*group.device()),
      barrier_(group.stream_barrier()),
      clocks_(device_, 2 * kMostMultiprocessors * sizeof(Clock)) {}

void LinkTimer::launch(ops::PreparedOperation& operation, int stamp, double rest_ms) {
  if (rest_ms > 0) {
    rest<<<1, 1, 0, static_cast<cudaStream_t>(device_.stream())>>>(static_cast<std::uint64_t>(rest_ms * 1e6));
    ops::device::check(cudaGetLastError(), "launch of a rest");
  }
  barrier_->enqueue();
  device_.mark(stamp);
  operation.run();
  device_.mark(stamp + 1);
}

Timed LinkTimer::run(std::span<ops::PreparedOperation* const> operations, const Rounds& rounds) {
  std::vector<std::size_t> order = schedule(operations.size(), rounds.warm_up + rounds.timed);
  const int total = static_cast<int>(order.size()), first = rounds.warm_up * static_cast<int>(operations.size());
  std::vector<double> mine;  // of the timed launches
  const auto take = [&](int number) {
    const int stamp = 2 * (number % kAhead);
    device_.wait(stamp + 1);
    if (number >= first) mine.push_back(1e3 * device_.seconds(stamp, stamp + 1));
  };
  device_.fill(clocks_.data(), clocks_.size(), 0);
  for (int number = 0; number < total; ++number) {
    if (number >= kAhead) take(number - kAhead);
    if (number == first) read_clocks(0);
    launch(*operations[order[static_cast<std::size_t>(number)]], 2 * (number % kAhead), rounds.rest_ms);
  }
  read_clocks(1);
  for (int number = std::max(0, total - kAhead); number < total; ++number) take(number);
  device_.synchronize();
  check_faults(operations);

  order.erase(order.begin(), order.begin() + first);
  const std::vector<std::byte> bytes = group_.all_gather(std::as_bytes(std::span(mine)));
  const std::span times(reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double));
  return {by_operation(operations.size(), order, times), std::ranges::min(group_.all_gather(clock_hz()))};
}

void LinkTimer::read_clocks(int when) {
  read<<<device_.multiprocessors(), 1, 0, static_cast<cudaStream_t>(device_.stream())>>>(clocks_.as<Clock>() +
                                                                                         when * kMostMultiprocessors);
  ops::device::check(cudaGetLastError(), "reading of the clocks");
}

double LinkTimer::clock_hz() {
  std::vector<Clock> clocks(2 * kMostMultiprocessors);
  device_.copy_out(std::as_writable_bytes(std::span(clocks)), clocks_.data());
  double sum = 0;
  int read = 0;
  for (std::size_t i = 0; i < kMostMultiprocessors; ++i) {
    const Clock &before = clocks[i], &after = clocks[i + kMostMultiprocessors];
    if (before.ns == 0 || after.ns <= before.ns) continue;
    sum += 1e9 * static_cast<double>(after.cycles - before.cycles) / static_cast<double>(after.ns - before.ns);
    ++read;
  }
  return read == 0 ? 0 : sum / read;
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
