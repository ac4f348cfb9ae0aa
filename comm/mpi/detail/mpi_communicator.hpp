#pragma once

#include <mpi.h>

#include <memory>

#include <megaup/comm/communicator.hpp>
#include <megaup/comm/mpi/detail/group.hpp>
#include <megaup/comm/mpi/detail/job.hpp>

namespace megaup::comm::mpi {

/// Ranks as MPI processes. Every call that waits for a peer is nonblocking and polled, so that abort and watchdog reach
/// it; the few calls of MPI that have no such form come after a wait in which all ranks have met.
class MpiCommunicator final : public Communicator {
 public:
  /// `entry` is given up when the communicator goes; nothing for the world.
  MpiCommunicator(Job& job, std::shared_ptr<Group> group, int rank, std::shared_ptr<Releases::Entry> entry);
  ~MpiCommunicator() override;
  std::unique_ptr<Exchange> alltoall(const ExchangeShape& shape);

 private:
  std::string_view do_backend() const override { return "mpi"; }
  void do_barrier() override;
  bool do_any(bool mine) override;
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  std::unique_ptr<Communicator> do_split(int colour) override;
  std::unique_ptr<Exchange> do_exchange(const ExchangeShape& shape) override;
  std::unique_ptr<PeerMemory> do_peer_memory(std::size_t bytes, std::size_t flags) override;
  core::Reason do_no_peer_memory() const override;
  Placement do_placement() const override;
  void do_abort(const core::Error& cause) noexcept override { job_.abort(cause); }

  Job& job_;
  std::shared_ptr<Group> group_;
  std::shared_ptr<Releases::Entry> entry_;
};

}  // namespace megaup::comm::mpi
