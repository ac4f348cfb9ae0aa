#include <megaup/comm/wait.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>

namespace megaup::comm {
namespace {

using Clock = std::chrono::steady_clock;

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A sleeper wakes some 50 us late. Alone on its core a rank can yield for long instead; in a crowd each yield takes a
// turn away from the rank that is waited for, so sleeping begins early (200 us gave the fastest
// exchange of 8 ranks on 2 cores, though not the fastest barrier).
constexpr std::chrono::microseconds kYieldFor(20'000), kCrowdedYieldFor(200);
constexpr auto kShortestSleep = std::chrono::nanoseconds(20'000), kLongestSleep = std::chrono::nanoseconds(500'000);

}  // namespace

PeerAborted::PeerAborted(int by, int rank)
    : core::Error(core::ErrorKind::cell, fmt::format("rank {} stopped because rank {} ended the launch", rank, by),
                  rank) {}

void throw_if_aborted(const WaitRules& rules) {
  const std::uint32_t by = std::atomic_ref<std::uint32_t>(*rules.aborted_by).load(std::memory_order_acquire);
  if (by != 0) throw PeerAborted(static_cast<int>(by) - 1, rules.rank);
}

bool Waiting::step() {
  if (spins_left_ > 0) {
    --spins_left_;
    pause_core();
    return true;
  }
  const auto now = Clock::now();
  if (since_ == Clock::time_point{}) since_ = now;
  throw_if_aborted(rules_);
  const auto waited = now - since_;
  if (waited > rules_.patience) return false;
  if (waited <= (rules_.crowded ? kCrowdedYieldFor : kYieldFor))
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 16, kShortestSleep, kLongestSleep));
  return true;
}

core::Error impatience(const WaitRules& rules, const std::string& missing) {
  return core::Error(core::ErrorKind::cell, fmt::format("waited {:.3g} s for {}", rules.patience.count(), missing),
                     rules.rank);
}

}  // namespace megaup::comm
