#include <megaup/experiments/timing.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace megaup::experiments {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::int64_t CacheFlush::bytes() {
  const std::int64_t last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  constexpr std::int64_t kUnknown = 64LL << 20;  // larger than the share of a core on today's hosts
  return std::max(last_level, kUnknown);
}

CacheFlush::CacheFlush() : memory_(static_cast<std::size_t>(bytes())) {}

void CacheFlush::flush() { std::memset(memory_.bytes().data(), ++value_, memory_.size()); }

std::vector<BlockTimes> time_blocks(const Observing& how, std::span<const std::function<void()>> launches) {
  const auto n = static_cast<std::int64_t>(launches.size());
  std::vector<BlockTimes> times(launches.size());
  for (auto& each : times) each.seconds.reserve(static_cast<std::size_t>(how.measure.observations));
  const bool barrier_each = how.measure.cadence == Cadence::barrier;
  how.deadline.check();
  for (std::int64_t number = 0; number < (how.measure.warmup + how.measure.observations) * n; ++number) {
    const std::int64_t i = number / n - how.measure.warmup;
    const auto turn = static_cast<std::size_t>(number % n);
    if (how.before) how.before(number);
    if (how.flush) how.flush->flush();
    if (i == 0)
      times[turn].started_s = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    if (barrier_each) how.deadline.check();
    const auto begin = Clock::now();
    launches[turn]();
    const auto end = Clock::now();
    if (i >= 0) times[turn].seconds.push_back(std::chrono::duration<double>(end - begin).count());
    if (how.after) how.after(number);
  }
  how.deadline.check();
  return times;
}

}  // namespace megaup::experiments
