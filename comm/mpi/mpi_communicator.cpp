#include <megaup/comm/mpi/detail/mpi_communicator.hpp>

#include <climits>

#include <fmt/format.h>

#include <megaup/comm/mpi/detail/alltoall_exchange.hpp>
#include <megaup/comm/mpi/detail/call.hpp>
#include <megaup/comm/mpi/detail/placement.hpp>
#include <megaup/comm/mpi/detail/shared_window.hpp>
#include <megaup/comm/pulled_exchange.hpp>

namespace megaup::comm::mpi {

MpiCommunicator::MpiCommunicator(Job& job, std::shared_ptr<Group> group, int rank,
                                 std::shared_ptr<Releases::Entry> entry)
    : Communicator(rank, static_cast<int>(group->launch_ranks.size())),
      job_(job),
      group_(std::move(group)),
      entry_(std::move(entry)) {}

MpiCommunicator::~MpiCommunicator() {
  if (entry_) entry_->given_up = true;
}

void MpiCommunicator::do_barrier() {
  throw_if_aborted(job_.rules());
  MPI_Request request;
  check(MPI_Ibarrier(group_->comm, &request), "MPI_Ibarrier");
  job_.complete(request, "its peers to reach a barrier");
}

bool MpiCommunicator::do_any(bool mine) {
  throw_if_aborted(job_.rules());
  int vote = mine ? 1 : 0;
  MPI_Request request;
  check(MPI_Iallreduce(MPI_IN_PLACE, &vote, 1, MPI_INT, MPI_MAX, group_->comm, &request), "MPI_Iallreduce");
  job_.complete(request, "its peers to vote");
  return vote != 0;
}

void MpiCommunicator::do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  throw_if_aborted(job_.rules());
  if (mine.size() > INT_MAX)
    throw core::Error(core::ErrorKind::cell,
                      fmt::format("all_gather: {} bytes a rank, at most {}", mine.size(), INT_MAX), job_.rank());
  const int count = static_cast<int>(mine.size());
  MPI_Request request;
  check(MPI_Iallgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, group_->comm, &request),
        "MPI_Iallgather");
  job_.complete(request, "its peers to take part in a gather");
}

std::unique_ptr<Communicator> MpiCommunicator::do_split(int colour) {
  std::vector<int> colours(static_cast<std::size_t>(size()));
  do_all_gather(std::as_bytes(std::span(&colour, 1)), std::as_writable_bytes(std::span(colours)));
  group_->releases.collect(job_, group_->comm);

  auto group = std::make_shared<Group>();
  int place = 0;
  for (int r = 0; r < size(); ++r) {
    if (colours[static_cast<std::size_t>(r)] != colour) continue;
    if (r == rank()) place = static_cast<int>(group->launch_ranks.size());
    group->launch_ranks.push_back(group_->launch_ranks[static_cast<std::size_t>(r)]);
  }
  check(MPI_Comm_split(group_->comm, colour, rank(), &group->comm), "MPI_Comm_split");
  const auto release = [group] {
    group->releases.release_all();
    check(MPI_Comm_free(&group->comm), "MPI_Comm_free");
  };
  auto entry = group_->releases.add(release, [group] { return group->releases.idle(); });
  return std::make_unique<MpiCommunicator>(job_, std::move(group), place, std::move(entry));
}

std::unique_ptr<Exchange> MpiCommunicator::alltoall(const ExchangeShape& shape) {
  return alltoall_exchange(job_, *group_, shape);
}

std::unique_ptr<Exchange> MpiCommunicator::do_exchange(const ExchangeShape& shape) {
  return no_peer_memory() ? alltoall(shape) : pulled_exchange(*this, group_->launch_ranks, shape);
}

std::unique_ptr<PeerMemory> MpiCommunicator::do_peer_memory(std::size_t bytes, std::size_t flags) {
  group_->releases.collect(job_, group_->comm);
  PeerMap map = share_window(job_, *group_, rank(), bytes, flags);
  return std::make_unique<MappedPeerMemory>(bytes, flags, std::move(map), rank(), job_.rules());
}

core::Reason MpiCommunicator::do_no_peer_memory() const { return apart(do_placement()); }

Placement MpiCommunicator::do_placement() const {
  std::vector<int> nodes;
  for (const int r : group_->launch_ranks) nodes.push_back(job_.nodes()[static_cast<std::size_t>(r)]);
  Placement here = place(nodes, rank());
  here.oversubscribed = job_.rules().crowded;
  return here;
}

}  // namespace megaup::comm::mpi
