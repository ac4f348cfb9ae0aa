#pragma once

#include <cstddef>
#include <cstdint>

#include <megaup/comm/cuda/await_cuda.cuh>
#include <megaup/comm/peer_memory.hpp>

/// Ranks that meet in their devices' streams: each writes a word of every peer and waits for its own words.
namespace megaup::comm::device {

/// One series of meetings as a kernel sees it. The meeting's number is a word of the device, so that every replay of a
/// captured graph is a new meeting.
struct Arrivals {
  const std::uint32_t* words;  // one a sender, kFlagStride bytes apart: the last meeting to which it has come
  std::uint32_t* epoch;        // the meeting that comes next, the first being 1; no other rank reads it
  Patience patience;           // a fault is 1 + the sender that did not come in time, or kOutOfTurn
  std::int32_t senders, self;
};

/// By a whole block with a thread for each sender, all of which have read `epoch` from the device: waits for all
/// senders but the own rank, then counts on.
__device__ inline void await_all(const Arrivals& arrivals, std::uint32_t epoch) {
  const int p = static_cast<int>(threadIdx.x);
  if (p < arrivals.senders && p != arrivals.self)
    await_word(arrivals.words + static_cast<std::size_t>(p) * (kFlagStride / sizeof(std::uint32_t)), epoch,
               arrivals.patience, 1u + static_cast<std::uint32_t>(p));
  __syncthreads();  // every thread has read the epoch
  if (p == 0) *arrivals.epoch = epoch + 1;
}

}  // namespace megaup::comm::device
