#include <timed_arms_cuda.cuh>

#include <algorithm>

#include <megaup/comm/cuda/await_cuda.cuh>

namespace megaup::cuda_tests {

using ops::device::check;

namespace {

__global__ void idle(std::uint64_t ns) {
  const std::uint64_t end = comm::device::nanoseconds() + ns;
  while (comm::device::nanoseconds() < end) __nanosleep(1000);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

Timer::Timer() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }

void Timer::batch(std::vector<Arm>& arms, int rounds, double gap_ms) {
  std::vector<cudaEvent_t> events(arms.size() * static_cast<std::size_t>(rounds) * 2);
  for (auto& event : events) check(cudaEventCreate(&event), "event");
  std::size_t next = 0;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const Arm& arm = arms[(i + static_cast<std::size_t>(round)) % arms.size()];
      if (gap_ms > 0) idle<<<1, 1, 0, stream_>>>(static_cast<std::uint64_t>(gap_ms * 1e6));
      check(cudaEventRecord(events[next++], stream_), "event");
      arm.kernel->run(stream_);
      check(cudaEventRecord(events[next++], stream_), "event");
    }
  check(cudaStreamSynchronize(stream_), "batch");
  for (Arm& arm : arms) arm.ms.assign(static_cast<std::size_t>(rounds), 0);
  next = 0;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < arms.size(); ++i, next += 2) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, events[next], events[next + 1]), "elapsed");
      arms[(i + static_cast<std::size_t>(round)) % arms.size()].ms[static_cast<std::size_t>(round)] = ms;
    }
  for (auto& event : events) cudaEventDestroy(event);
}

void Timer::measure(std::vector<Arm>& arms, ops::Regime regime, bool tune) {
  batch(arms, 3, 0);  // loads every module, and says how long a round takes
  double round_ms = 0;
  for (const Arm& arm : arms) round_ms += quantile(arm.ms, 0.5);
  const bool sustained = regime == ops::Regime::sustained;
  const double gap_ms = sustained ? 0 : 4 * quantile(arms[0].ms, 0.5);  // 20 % duty: well below the power cap
  if (!sustained) round_ms *= 5;
  if (sustained) batch(arms, static_cast<int>(std::clamp(300 / round_ms, 4.0, 60.0)), 0);  // up to the power cap
  batch(arms, static_cast<int>(std::clamp((tune ? 900 : 500) / round_ms, 12.0, 40.0)), gap_ms);
}

}  // namespace megaup::cuda_tests
