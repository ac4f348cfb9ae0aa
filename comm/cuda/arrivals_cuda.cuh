#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <megaup/comm/cuda/device_communicator_cuda.cuh>

/// Ranks that meet in their devices' streams: each writes a word of every peer and waits for its own words.
namespace megaup::comm::device {

/// One series of meetings as a kernel sees it. The meeting's number is a word of the device, so that every replay of a
/// captured graph is a new meeting. Numbers wrap around: only their difference counts.
struct Arrivals {
  const std::uint32_t* words;  // one a sender, kFlagStride bytes apart: the last meeting to which it has come
  std::uint32_t* epoch;        // the meeting that comes next, the first being 1; no other rank reads it
  std::uint32_t* lost;         // 0, or 1 + the sender that did not come in time, or kOutOfTurn
  std::int32_t senders, self;
  std::uint64_t timeout_ns;
};

/// A graph was replayed in which a meeting has a place that is not its turn's.
constexpr std::uint32_t kOutOfTurn = 0xffffffff;

__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/// Keeps the first cause.
__device__ inline void report(const Arrivals& arrivals, std::uint32_t cause) {
  if (*static_cast<const volatile std::uint32_t*>(arrivals.lost) == 0) *arrivals.lost = cause;
}

/// Waits for sender p. Acquires at system scope: what the sender wrote before its word is seen.
__device__ inline void await(const Arrivals& arrivals, int p, std::uint32_t epoch) {
  const std::uint32_t* word = arrivals.words + static_cast<std::size_t>(p) * (kFlagStride / sizeof(std::uint32_t));
  std::uint64_t deadline = 0;
  for (;;) {
    std::uint32_t seen;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
    if (static_cast<std::int32_t>(seen - epoch) >= 0) return;
    const std::uint64_t now = nanoseconds();
    if (deadline == 0) deadline = now + arrivals.timeout_ns;
    if (now > deadline || *static_cast<const volatile std::uint32_t*>(arrivals.lost) != 0)
      break;  // one patience for all launches
  }
  report(arrivals, 1u + static_cast<std::uint32_t>(p));
}

/// By a whole block with a thread for each sender, all of which have read `epoch` from the device: waits for all senders
/// but the own rank, then counts on.
__device__ inline void await_all(const Arrivals& arrivals, std::uint32_t epoch) {
  const int p = static_cast<int>(threadIdx.x);
  if (p < arrivals.senders && p != arrivals.self) await(arrivals, p, epoch);
  __syncthreads();  // every thread has read the epoch
  if (p == 0) *arrivals.epoch = epoch + 1;
}

}  // namespace megaup::comm::device

namespace megaup::comm::cuda {

/// The words of several series of meetings. Making it is collective.
class Meetings {
 public:
  Meetings(DeviceCommunicator& group, int series)
      : group_(group),
        series_(static_cast<std::size_t>(series)),
        peers_(group.peer_memory(bytes(), 0)),
        local_(group.own_device(), (series_ + 1) * sizeof(std::uint32_t)) {
    std::vector<std::uint32_t> words(series_ + 1, 1);
    words.back() = 0;  // lost
    group.own_device().copy_in(local_.data(), std::as_bytes(std::span(words)));
  }

  /// Word of rank `from` in the memory of rank `at`.
  std::uint32_t* word(int at, int series, int from) const {
    const int index = series * group_.size() + from;
    return reinterpret_cast<std::uint32_t*>(peers_->base(at) + kFlagStride * static_cast<std::size_t>(index));
  }
  device::Arrivals arrivals(int series) const {
    auto* const local = local_.as<std::uint32_t>();
    return {word(group_.rank(), series, 0),
            local + series,
            local + series_,
            group_.size(),
            group_.rank(),
            group_.timeout_ns()};
  }

  /// Every peer has come to every meeting of a run, for timing without them.
  void assume_peers_arrived() { group_.own_device().fill(peers_->base(group_.rank()), bytes(), 0x3f); }
  /// After a synchronize(): Arrivals::lost.
  std::uint32_t lost() const {
    std::uint32_t word = 0;
    group_.own_device().copy_out(std::as_writable_bytes(std::span(&word, 1)),
                                 local_.data() + series_ * sizeof(std::uint32_t));
    return word;
  }

 private:
  std::size_t bytes() const { return series_ * static_cast<std::size_t>(group_.size()) * kFlagStride; }

  DeviceCommunicator& group_;
  std::size_t series_;
  std::unique_ptr<PeerMemory> peers_;
  core::DeviceBuffer local_;
};

}  // namespace megaup::comm::cuda
