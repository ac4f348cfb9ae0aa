#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <megaup/comm/cuda/arrivals_cuda.cuh>
#include <megaup/comm/cuda/device_communicator_cuda.cuh>

namespace megaup::comm::cuda {

/// The words of several series of meetings: on every rank one a series and sender, which the sender writes, and its own
/// counters and fault.
///
/// Ranks   making it is collective, nothing else is.
/// Owns    its words, which are zero at first. The group outlives it. word() and arrivals() are addresses for kernels
///         and copies of this rank, which are done before it goes.
/// Errors  those of Communicator::peer_memory() when it is made. A peer that does not come is a number in lost().
/// Cost    series * P * kFlagStride bytes of peer memory, and a word a series.
class Meetings {
 public:
  Meetings(DeviceCommunicator& group, int series);

  /// Word of rank `from` in the memory of rank `at`.
  std::uint32_t* word(int at, int series, int from) const;
  device::Arrivals arrivals(int series) const;

  /// Every peer has come to every meeting of a run, for timing without them. Waits for the device's stream.
  void assume_peers_arrived();
  /// The first fault of all series (device::Patience::lost); 0: none so far. Waits for the device's stream.
  std::uint32_t lost() const;

 private:
  std::size_t bytes() const { return series_ * static_cast<std::size_t>(group_.size()) * kFlagStride; }

  DeviceCommunicator& group_;
  std::size_t series_;
  std::unique_ptr<PeerMemory> peers_;
  core::DeviceBuffer local_;  // a counter a series, then the fault
};

}  // namespace megaup::comm::cuda
