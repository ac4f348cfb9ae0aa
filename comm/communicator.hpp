#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/comm/exchange.hpp>
#include <megaup/comm/peer_memory.hpp>
#include <megaup/comm/stream_barrier.hpp>
#include <megaup/core/device.hpp>
#include <megaup/core/error.hpp>

namespace megaup::comm {

/// An error that is the same on all ranks of a group, which are still in step: the group can go on with something else.
class GroupError : public core::Error {
 public:
  using core::Error::Error;
};

/// Where a rank of a group lies.
struct Placement {
  int rank_on_node = 0, ranks_on_node = 1, nodes = 1;
  bool oversubscribed = false;  ///< this node has more ranks of the launch than cores that they may use
};

/// The ranks of one group. Calls are collective unless said otherwise: all ranks make the same calls in the same order.
///
/// Waits   every wait ends with Error{cell} when another rank has aborted, or when the patience of the launch is over:
///         the message names what is missing, ranks being those of the launch also in a split group. A collective call
///         that ran out of patience has ended the launch; after PeerMemory::wait the ranks may go on together.
/// Threads a rank uses its communicator from the thread that got it; only abort() may come from any thread.
/// Ending  destroying a communicator, an Exchange or a PeerMemory is local and never waits, also while an exception
///         unwinds: what peers still use stays. mpi gives such memory back in the next split() or peer_memory() of the
///         same communicator, and at the end.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string_view backend() const { return do_backend(); }

  void barrier() { do_barrier(); }
  /// True on all ranks if any rank says true; also a barrier.
  bool any(bool mine);
  /// Bytes of every rank, in rank order. All ranks give the same number of bytes.
  std::vector<std::byte> all_gather(std::span<const std::byte> mine);
  std::vector<double> all_gather(double mine);
  /// Any-sized text of every rank, in rank order (for errors, host names, hashes).
  std::vector<std::string> all_gather(std::string_view mine);

  /// Ranks of the same colour (>= 0) form a group, ordered by rank here. The parent outlives it.
  std::unique_ptr<Communicator> split(int colour);

  /// The native all-to-all: the fastest that the backend has for this group. Throws Error{cell} on all ranks if their
  /// shapes differ or this backend cannot serve it.
  std::unique_ptr<Exchange> exchange(const ExchangeShape& shape);
  /// Symmetric memory: `bytes` on every rank (same on all), readable and writable by all, plus `flags` epoch flags a
  /// rank, all zero. Each rank touches its own part first. Throws Error{cell} on all ranks if their sizes differ or
  /// no_peer_memory() has a reason.
  std::unique_ptr<PeerMemory> peer_memory(std::size_t bytes, std::size_t flags);
  /// Why peer_memory is impossible here (for example ranks on several nodes); nothing if it is possible. Not
  /// collective, same on all.
  core::Reason no_peer_memory() const { return do_no_peer_memory(); }
  /// Why exchange() cannot move bytes that way here, as far as that is known without trying: exchange() may still refuse
  /// nccl_window and nccl_zero_cta, on all ranks. Not collective, same on all.
  core::Reason no_transport(Transport transport) const { return do_no_transport(transport); }
  Placement placement() const { return do_placement(); }
  /// What the bytes of exchange() and peer_memory() cross: host-memory | network | nvlink | pcie | emulated.
  std::string_view fabric() const { return do_fabric(); }
  /// The accelerator of this rank; nullptr on a host backend. With one, peer_memory() and exchange() give memory of the
  /// devices (every rank's base() is an address that this rank's device reaches), an exchange's start() and finish()
  /// enqueue in the device's stream and return at once, and barrier() is among the host threads only.
  core::Device* device() const { return do_device(); }
  /// A barrier in the streams of the devices of the group; nullptr on a host backend. Collective.
  std::unique_ptr<StreamBarrier> stream_barrier() { return do_stream_barrier(); }

  /// Not collective: ends all ranks; their waits throw. The first cause wins and is what launch() reports. Never
  /// throws.
  void abort(const core::Error& cause) noexcept { do_abort(cause); }

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}

 private:
  virtual std::string_view do_backend() const = 0;
  virtual void do_barrier() = 0;
  virtual bool do_any(bool mine) = 0;
  virtual void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual std::unique_ptr<Communicator> do_split(int colour) = 0;
  virtual std::unique_ptr<Exchange> do_exchange(const ExchangeShape& shape) = 0;
  virtual std::unique_ptr<PeerMemory> do_peer_memory(std::size_t bytes, std::size_t flags) = 0;
  virtual core::Reason do_no_peer_memory() const = 0;
  virtual Placement do_placement() const = 0;
  virtual core::Reason do_no_transport(Transport transport) const;
  virtual std::string_view do_fabric() const { return placement().nodes > 1 ? "network" : "host-memory"; }
  virtual core::Device* do_device() const { return nullptr; }
  virtual std::unique_ptr<StreamBarrier> do_stream_barrier() { return nullptr; }
  virtual void do_abort(const core::Error& cause) noexcept = 0;

  int rank_, size_;
};

}  // namespace megaup::comm
