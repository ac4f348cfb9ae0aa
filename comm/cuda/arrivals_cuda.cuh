#pragma once

#include <cstddef>
#include <cstdint>

#include <megaup/comm/peer_memory.hpp>

/// Waiting on the device for words that peers write.
namespace megaup::comm::device {

constexpr std::size_t kWordStride = kFlagStride / sizeof(std::uint32_t);

/// One word a sender, kFlagStride bytes apart. Epochs wrap around: only their difference counts.
struct Arrivals {
  const std::uint32_t* words;
  std::uint32_t* lost;  // 0, or 1 + the sender that did not come in time
  std::int32_t senders, self;
  std::uint32_t epoch;
  std::uint64_t timeout_ns;
};

__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/// Thread p waits for sender p. Acquires at system scope: what the sender wrote before its word is seen.
__device__ inline void await(const Arrivals& arrivals, int p) {
  if (p >= arrivals.senders || p == arrivals.self) return;
  const std::uint32_t* word = arrivals.words + static_cast<std::size_t>(p) * kWordStride;
  std::uint64_t deadline = 0;
  for (;;) {
    std::uint32_t seen;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
    if (static_cast<std::int32_t>(seen - arrivals.epoch) >= 0) return;
    const std::uint64_t now = nanoseconds();
    if (deadline == 0) deadline = now + arrivals.timeout_ns;
    if (now > deadline || *static_cast<const volatile std::uint32_t*>(arrivals.lost) != 0)
      break;  // one patience for all launches
  }
  if (*static_cast<const volatile std::uint32_t*>(arrivals.lost) != 0) return;
  *arrivals.lost = 1u + static_cast<std::uint32_t>(p);
}

}  // namespace megaup::comm::device
