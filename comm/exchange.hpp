#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <megaup/core/error.hpp>

namespace megaup::comm {

/// What moves the bytes. A host backend has one way, `automatic`. On devices `automatic` is what the communicator was
/// made with (DeviceChoice).
enum class Transport : std::uint8_t {
  automatic,
  nccl,           ///< kernels of NCCL
  nccl_window,    ///< the same, between buffers that NCCL has mapped on all ranks (a symmetric window)
  nccl_zero_cta,  ///< copy engines under NCCL, between such buffers: no multiprocessor takes part
  copy_engine,    ///< peer copies of our own
};
std::string_view name(Transport value);
constexpr bool by_nccl(Transport value) {
  return value == Transport::nccl || value == Transport::nccl_window || value == Transport::nccl_zero_cta;
}

struct ExchangeShape {
  std::size_t bytes_per_peer = 0;  ///< the same for every pair; zero is allowed
  int slots = 1;                   ///< exchanges that may be in flight at once (pipelined and chunked arms)
  Transport transport = Transport::automatic;
};

/// The native all-to-all, prepared once: recv block p of rank r = send block r of rank p, each bytes_per_peer long, in
/// rank order.
///
/// Picture, P = 4, buffers of rank 1:    send [to 0 | to 1 | to 2 | to 3]    recv [from 0 | from 1 | from 2 | from 3]
/// Ranks   all ranks start and finish the same slots in the same order.
/// Buffers each slot has its own send and receive buffer, owned here (P * bytes_per_peer), so that backends may use
///         memory that peers reach. send may be written from construction or finish(slot) until start(slot); recv may
///         be read from finish(slot) until the next start(slot).
/// Stream  start never waits for a peer; finish returns when recv is complete and send may be reused. No allocation in
///         either.
/// Cost    (P-1)/P of the buffer crosses between ranks, 1/P is copied locally.
/// Errors  finish throws Error{cell} on abort or when a peer does not come within the launch's patience, naming it;
///         after that the exchange can only be dropped.
///         start and finish throw it for a slot that does not exist, is in flight already, or was not started.
///
/// On a device (Communicator::device()) the buffers are the device's; start and finish only enqueue, and what is said
/// of them holds in the order of the device's stream: start takes what was enqueued before it, and what is enqueued
/// after finish may read recv and write send. A peer that does not come is told by fault() after a synchronize().
/// recv() may change with every start of its slot: ask for it between start and the next start. With copy_engine it is
/// one of two that take turns (receive_sets()), so a captured graph has an even number of exchanges of a slot; with an
/// odd one fault() of two ranks or more has a reason after the second replay.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const ExchangeShape& shape() const { return shape_; }
  std::byte* send(int slot) const { return do_send(existing(slot)); }
  const std::byte* recv(int slot) const { return do_recv(existing(slot)); }
  void start(int slot);
  void finish(int slot);
  /// Receive buffers of a slot that take turns: so many exchanges of a slot reach all of them.
  virtual int receive_sets() const { return 1; }
  /// Devices, for timing without peers (PreparedOperation::assume_peers_arrived): waits of finish are over at once from
  /// now on. Throws Error{usage} where that cannot be.
  virtual void assume_peers_arrived();
  /// Devices, after a synchronize(): the peer that did not come in time.
  virtual core::Reason fault() { return {}; }
  /// What moves the bytes, for the record: pulled, MPI_Ialltoall, nccl, copy_engine, ...
  virtual std::string_view describe() const { return "host"; }

 protected:
  explicit Exchange(const ExchangeShape& shape);
  /// Started and not finished: a backend's destructor must not free what peers or a library still write to.
  bool in_flight(int slot) const { return in_flight_[static_cast<std::size_t>(slot)] != 0; }

 private:
  virtual std::byte* do_send(int slot) const = 0;
  virtual const std::byte* do_recv(int slot) const = 0;
  virtual void do_start(int slot) = 0;
  virtual void do_finish(int slot) = 0;

  int existing(int slot) const;

  ExchangeShape shape_;
  std::vector<char> in_flight_;
};

}  // namespace megaup::comm
