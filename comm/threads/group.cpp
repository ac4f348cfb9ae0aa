#include <megaup/comm/threads/group.hpp>

#include <atomic>
#include <cstring>

#include <fmt/format.h>

namespace megaup::comm::threads {

Member::Member(World& world, std::shared_ptr<Group> group, int rank)
    : world_(world),
      group_(std::move(group)),
      rank_(rank),
      rules_(world.rules(group_->launch_ranks[static_cast<std::size_t>(rank)])) {}

bool Member::meet(bool vote) {
  throw_if_aborted(rules_);
  const std::uint64_t due = 2 * ++meetings_;
  const std::size_t turn = meetings_ % 2, P = group_->seats.size(), me = static_cast<std::size_t>(rank_);
  std::atomic_ref<std::uint64_t>(group_->seats[me].ticket[turn]).store(due + (vote ? 1 : 0), std::memory_order_release);
  bool any = vote;
  for (std::size_t k = 1; k < P; ++k) any = (ticket_of((me + k) % P, turn, due) & 1) != 0 || any;
  return any;
}

std::uint64_t Member::ticket_of(std::size_t peer, std::size_t turn, std::uint64_t due) {
  const std::atomic_ref<std::uint64_t> theirs(group_->seats[peer].ticket[turn]);
  std::uint64_t ticket = 0;
  const auto arrived = [&] { return (ticket = theirs.load(std::memory_order_acquire)) >= due; };
  Waiting waiting(rules_);
  while (!arrived()) {
    if (waiting.step()) continue;
    const core::Error cause =
        impatience(rules_, fmt::format("rank {} to reach meeting {} of a group of {}", group_->launch_ranks[peer],
                                       meetings_, group_->seats.size()));
    world_.abort(cause, rules_.rank);
    throw cause;
  }
  return ticket;
}

void Member::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  group_->seats[static_cast<std::size_t>(rank_)].bytes = mine;
  meet();
  std::size_t offset = 0;
  for (std::size_t peer = 0; peer < group_->seats.size(); ++peer) {
    const std::span<const std::byte> theirs = group_->seats[peer].bytes;
    if (theirs.size() != mine.size())
      throw core::Error(core::ErrorKind::cell,
                        fmt::format("gather: rank {} gives {} bytes, rank {} gives {}", rules_.rank, mine.size(),
                                    group_->launch_ranks[peer], theirs.size()),
                        rules_.rank);
    if (!theirs.empty()) std::memcpy(all.data() + offset, theirs.data(), theirs.size());
    offset += theirs.size();
  }
  meet();  // `mine` may change from here on
}

std::shared_ptr<void> Member::hand_out(int leader, std::shared_ptr<void> mine) {
  Seat& seat = group_->seats[static_cast<std::size_t>(rank_)];
  seat.object = std::move(mine);
  meet();
  std::shared_ptr<void> object = group_->seats[static_cast<std::size_t>(leader)].object;
  meet();
  seat.object.reset();
  return object;
}

}  // namespace megaup::comm::threads
