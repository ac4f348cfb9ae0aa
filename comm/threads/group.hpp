#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <megaup/comm/peer_memory.hpp>
#include <megaup/comm/threads/world.hpp>

namespace megaup::comm::threads {

/// What one rank shows to the others of its group. A line of its own: each is written by its rank and read by all.
struct alignas(kFlagStride) Seat {
  /// 2 * barrier count + vote, one of two in turn: a rank can be one barrier ahead of another, never two.
  std::uint64_t ticket[2] = {0, 0};
  std::span<const std::byte> bytes;  ///< for a gather
  std::shared_ptr<void> object;      ///< for hand_out
};

/// The shared side of a communicator.
struct Group {
  explicit Group(std::vector<int> ranks) : launch_ranks(std::move(ranks)), seats(launch_ranks.size()) {}
  std::vector<int> launch_ranks;  ///< by rank of the group
  std::vector<Seat> seats;
};

/// One rank's side of a group: its meetings with the others. Every wait of this backend but those on peer memory is
/// here.
class Member {
 public:
  Member(World& world, std::shared_ptr<Group> group, int rank);

  const Group& group() const { return *group_; }
  const WaitRules& rules() const { return rules_; }
  /// Barrier; returns whether any rank voted true. When patience runs out the launch is ended: the ranks no longer
  /// agree on what is next.
  bool meet(bool vote = false);
  /// Copies every rank's bytes to `all`, in rank order. Throws Error{cell} on the ranks that see another size.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
  /// The object that `leader` brings. Others bring nothing; each rank names the leader of its own subset.
  std::shared_ptr<void> hand_out(int leader, std::shared_ptr<void> mine);

 private:
  std::uint64_t ticket_of(std::size_t peer, std::size_t turn, std::uint64_t due);

  World& world_;
  std::shared_ptr<Group> group_;
  int rank_;
  WaitRules rules_;
  std::uint64_t meetings_ = 0;
};

}  // namespace megaup::comm::threads
