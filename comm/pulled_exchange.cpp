#include <megaup/comm/pulled_exchange.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <megaup/core/buffer.hpp>

namespace megaup::comm {
namespace {

constexpr std::size_t kPage = 4096;  // slots begin on pages: vector loads like it, and slots share no line

class PulledExchange final : public Exchange {
 public:
  PulledExchange(Communicator& group, std::span<const int> launch_ranks, const ExchangeShape& shape)
      : Exchange(shape),
        rank_(group.rank()),
        P_(group.size()),
        launch_ranks_(launch_ranks.begin(), launch_ranks.end()),
        slot_bytes_((shape.bytes_per_peer * launch_ranks.size() + kPage - 1) / kPage * kPage),
        rounds_(static_cast<std::size_t>(shape.slots)),
        recv_(slot_bytes_ * rounds_.size()),
        peers_(group.peer_memory(slot_bytes_ * rounds_.size(), 2 * launch_ranks.size() * rounds_.size())) {}

 private:
  std::byte* do_send(int slot) const override { return send_of(rank_, slot); }
  const std::byte* do_recv(int slot) const override { return recv_.bytes().data() + offset(slot); }

  void do_start(int slot) override {
    const std::uint64_t round = ++rounds_[static_cast<std::size_t>(slot)];
    for (int k = 1; k < P_; ++k) peers_->signal((rank_ + k) % P_, published(slot, rank_), round);
  }

  void do_finish(int slot) override {
    for (int k = 1; k < P_; ++k) {
      const int peer = (rank_ + k) % P_;
      wait(published(slot, peer), slot, peer);
      pull(slot, peer);
      peers_->signal(peer, copied(slot, rank_), rounds_[static_cast<std::size_t>(slot)]);
    }
    pull(slot, rank_);
    for (int k = 1; k < P_; ++k) wait(copied(slot, (rank_ + k) % P_), slot, (rank_ + k) % P_);
  }

  void pull(int slot, int peer) {
    const std::size_t bytes = shape().bytes_per_peer;
    if (bytes == 0) return;
    std::memcpy(recv_.bytes().data() + offset(slot) + bytes * static_cast<std::size_t>(peer),
                send_of(peer, slot) + bytes * static_cast<std::size_t>(rank_), bytes);
  }

  // The capture fits std::function's own storage (two pointers): nothing is allocated here.
  void wait(std::size_t flag, int slot, int peer) {
    peers_->wait(flag, rounds_[static_cast<std::size_t>(slot)], [this, slot, peer] { return missing(slot, peer); });
  }
  std::string missing(int slot, int peer) const {
    return fmt::format("rank {} has not come to exchange {} of slot {} ({} bytes per peer)",
                       launch_ranks_[static_cast<std::size_t>(peer)], rounds_[static_cast<std::size_t>(slot)], slot,
                       shape().bytes_per_peer);
  }

  std::size_t offset(int slot) const { return slot_bytes_ * static_cast<std::size_t>(slot); }
  std::byte* send_of(int rank, int slot) const { return peers_->base(rank) + offset(slot); }
  // Two flags a slot and peer: `from` has published its block; `by` has copied the block that was for it.
  std::size_t published(int slot, int from) const { return static_cast<std::size_t>(2 * (slot * P_ + from)); }
  std::size_t copied(int slot, int by) const { return static_cast<std::size_t>(2 * (slot * P_ + by) + 1); }

  int rank_, P_;
  std::vector<int> launch_ranks_;
  std::size_t slot_bytes_;
  std::vector<std::uint64_t> rounds_;  // by slot; the epochs of its flags
  core::Buffer recv_;
  std::unique_ptr<PeerMemory> peers_;
};

}  // namespace

std::unique_ptr<Exchange> pulled_exchange(Communicator& group, std::span<const int> launch_ranks,
                                          const ExchangeShape& shape) {
  return std::make_unique<PulledExchange>(group, launch_ranks, shape);
}

}  // namespace megaup::comm
