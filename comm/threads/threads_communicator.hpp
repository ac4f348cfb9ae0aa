#pragma once

#include <memory>

#include <megaup/comm/communicator.hpp>
#include <megaup/comm/threads/group.hpp>

namespace megaup::comm::threads {

/// Ranks as threads of this process. Peer memory is plain memory of the process.
class ThreadsCommunicator final : public Communicator {
 public:
  ThreadsCommunicator(World& world, std::shared_ptr<Group> group, int rank);

 private:
  std::string_view do_backend() const override;
  void do_barrier() override { member_.meet(); }
  bool do_any(bool mine) override { return member_.meet(mine); }
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override { member_.gather(mine, all); }
  std::unique_ptr<Communicator> do_split(int colour) override;
  std::unique_ptr<Exchange> do_exchange(const ExchangeShape& shape) override;
  std::unique_ptr<PeerMemory> do_peer_memory(std::size_t bytes, std::size_t flags) override;
  core::Reason do_no_peer_memory() const override { return std::nullopt; }
  Placement do_placement() const override { return {rank(), size(), 1, member_.rules().crowded}; }
  void do_abort(const core::Error& cause) noexcept override { world_.abort(cause, member_.rules().rank); }

  World& world_;
  Member member_;
};

}  // namespace megaup::comm::threads
