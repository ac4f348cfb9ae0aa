#pragma once

#include <cstdint>

/// How a kernel waits for a word that another rank writes.
namespace megaup::comm::device {

/// A fault beside those that a wait reports: a graph was replayed whose buffers are not those of the launch's number.
constexpr std::uint32_t kOutOfTurn = 0xffffffff;

/// How long this rank's kernels wait, and where they say that it was in vain.
struct Patience {
  std::uint32_t* lost;  ///< 0, or the first fault: later ones are its consequences
  std::uint64_t timeout_ns;
};

__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/// Words count launches and wrap around: only their difference counts.
__device__ inline bool reached(std::uint32_t seen, std::uint32_t target) {
  return static_cast<std::int32_t>(seen - target) >= 0;
}

__device__ inline std::uint32_t load_acquire_system(const std::uint32_t* word) {
  std::uint32_t seen;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  return seen;
}

/// Keeps the first fault.
__device__ inline void report(std::uint32_t* lost, std::uint32_t fault) { atomicCAS(lost, 0u, fault); }

/// Waits until `word` has reached `target`, and acquires at system scope: what its writer wrote before it is seen. Ends
/// with `fault` after the timeout; after a fault no wait begins, so that launches in a queue wait in vain once.
__device__ inline void await_word(const std::uint32_t* word, std::uint32_t target, const Patience& patience,
                                  std::uint32_t fault) {
  if (reached(load_acquire_system(word), target)) return;
  // Only what really waits comes here: the clock is slow to read.
  if (*static_cast<const volatile std::uint32_t*>(patience.lost) != 0) return;
  const std::uint64_t deadline = nanoseconds() + patience.timeout_ns;
  while (!reached(load_acquire_system(word), target))
    if (nanoseconds() > deadline) return report(patience.lost, fault);
}

}  // namespace megaup::comm::device
