#pragma once

#include <memory>
#include <vector>

#include <megaup/comm/peer_memory.hpp>
#include <megaup/comm/wait.hpp>

namespace megaup::comm {

/// Where each rank's part of a symmetric block lies in this process.
struct PeerMap {
  std::vector<std::byte*> data;   ///< by rank
  std::vector<std::byte*> flags;  ///< by rank; flag f lies at f * kFlagStride
  std::shared_ptr<void> owner;    ///< keeps the block mapped
};

/// Peer memory for every backend whose ranks share an address space or pages of one node.
class MappedPeerMemory final : public PeerMemory {
 public:
  MappedPeerMemory(std::size_t bytes, std::size_t flags, PeerMap map, int rank, const WaitRules& rules)
      : PeerMemory(bytes, flags), map_(std::move(map)), rank_(rank), rules_(rules) {}

 private:
  std::byte* do_base(int rank) const override { return map_.data[static_cast<std::size_t>(rank)]; }
  std::uint64_t* do_flag(int rank, std::size_t flag) const override;
  std::uint64_t& do_own_flag(std::size_t flag) const override { return *do_flag(rank_, flag); }
  void do_wait(std::size_t flag, std::uint64_t epoch, const std::function<std::string()>& what) override;

  PeerMap map_;
  int rank_;
  WaitRules rules_;
};

}  // namespace megaup::comm
