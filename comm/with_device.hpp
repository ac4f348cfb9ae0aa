#pragma once

#include <chrono>
#include <memory>

#include <megaup/comm/communicator.hpp>

namespace megaup::comm {

/// How ranks take their devices.
struct DeviceChoice {
  /// What `automatic` exchanges use; automatic: nccl, or where it cannot, copy_engine.
  Transport transport = Transport::automatic;
  /// Several ranks on the first device, each with an equal part of its multiprocessors: their times say nothing about a
  /// link (fabric emulated). Ranks must be threads of one process.
  bool share = false;
  std::chrono::duration<double> patience{60.0};  ///< for work of the device and for peers
};

/// The same ranks, each with a CUDA device: peer_memory() and exchange() are the devices'. Rank k of a node takes device
/// k of those that ranks see, or where the launcher shows each process its own, that one (device_choice.hpp). Every
/// ordered pair of ranks is checked with a pattern before this returns. Collective; `host` outlives the result.
///
/// Errors, the same on all ranks: Error{environment} without CUDA (this build, driver, device), where devices or
/// processes cannot reach each other, or when a pair carries wrong data (both ranks, their devices, got and expected);
/// Error{cell} when there are more ranks than devices, or than parts of a shared one, with the mend.
std::unique_ptr<Communicator> with_device(Communicator& host, const DeviceChoice& choice);

/// Why NCCL cannot be used in this process, and its version where it can.
core::Reason no_nccl();
std::string nccl_version();

}  // namespace megaup::comm
