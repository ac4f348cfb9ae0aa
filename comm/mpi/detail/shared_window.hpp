#pragma once

#include <memory>

#include <megaup/comm/mapped_peer_memory.hpp>
#include <megaup/comm/mpi/detail/group.hpp>
#include <megaup/comm/mpi/detail/job.hpp>

namespace megaup::comm::mpi {

/// Collective. Symmetric memory of a group on one node, in a shared window; each rank's data and flags begin on a page
/// and were first touched, with zeros, by that rank.
PeerMap share_window(Job& job, Group& group, int rank, std::size_t bytes, std::size_t flags);

}  // namespace megaup::comm::mpi
