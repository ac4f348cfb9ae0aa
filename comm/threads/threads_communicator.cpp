#include <megaup/comm/threads/threads_communicator.hpp>

#include <cstring>

#include <megaup/comm/mapped_peer_memory.hpp>
#include <megaup/comm/pulled_exchange.hpp>
#include <megaup/core/buffer.hpp>

namespace megaup::comm::threads {
namespace {

/// Memory of all ranks of a group. It lives until the last rank lets go of it, so that a rank may leave while a peer
/// still copies.
struct Block {
  explicit Block(std::size_t P) : data(P), flags(P) {}
  std::vector<core::Buffer> data, flags;
};

}  // namespace

ThreadsCommunicator::ThreadsCommunicator(World& world, std::shared_ptr<Group> group, int rank)
    : Communicator(rank, static_cast<int>(group->seats.size())),
      world_(world),
      member_(world, std::move(group), rank) {}

std::string_view ThreadsCommunicator::do_backend() const { return "threads"; }

std::unique_ptr<Communicator> ThreadsCommunicator::do_split(int colour) {
  std::vector<int> colours(static_cast<std::size_t>(size()));
  member_.gather(std::as_bytes(std::span(&colour, 1)), std::as_writable_bytes(std::span(colours)));
  std::vector<int> launch_ranks;
  int leader = -1, place = 0;
  for (int r = 0; r < size(); ++r) {
    if (colours[static_cast<std::size_t>(r)] != colour) continue;
    if (leader < 0) leader = r;
    if (r == rank()) place = static_cast<int>(launch_ranks.size());
    launch_ranks.push_back(member_.group().launch_ranks[static_cast<std::size_t>(r)]);
  }
  std::shared_ptr<Group> mine;
  if (leader == rank()) mine = std::make_shared<Group>(std::move(launch_ranks));
  auto group = std::static_pointer_cast<Group>(member_.hand_out(leader, std::move(mine)));
  return std::make_unique<ThreadsCommunicator>(world_, std::move(group), place);
}

std::unique_ptr<Exchange> ThreadsCommunicator::do_exchange(const ExchangeShape& shape) {
  return pulled_exchange(*this, member_.group().launch_ranks, shape);
}

std::unique_ptr<PeerMemory> ThreadsCommunicator::do_peer_memory(std::size_t bytes, std::size_t flags) {
  const auto P = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(rank());
  auto block = std::static_pointer_cast<Block>(member_.hand_out(0, rank() == 0 ? std::make_shared<Block>(P) : nullptr));
  block->data[me] = core::Buffer(bytes);  // allocated and first touched by the rank that owns it
  block->flags[me] = core::Buffer(flags * kFlagStride);
  member_.meet();
  PeerMap map;
  for (std::size_t r = 0; r < P; ++r) {
    map.data.push_back(block->data[r].bytes().data());
    map.flags.push_back(block->flags[r].bytes().data());
  }
  map.owner = std::move(block);
  return std::make_unique<MappedPeerMemory>(bytes, flags, std::move(map), rank(), member_.rules());
}

}  // namespace megaup::comm::threads
