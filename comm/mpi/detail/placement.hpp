#pragma once

#include <vector>

#include <megaup/comm/communicator.hpp>

namespace megaup::comm::mpi {

/// Where one rank of a group lies, given the node of each rank of the group.
Placement place(const std::vector<int>& nodes, int rank);

/// Why ranks placed like this cannot share memory.
core::Reason apart(const Placement& placement);

}  // namespace megaup::comm::mpi
