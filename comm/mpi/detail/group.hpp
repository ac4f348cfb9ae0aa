#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include <megaup/comm/mpi/detail/releases.hpp>

namespace megaup::comm::mpi {

/// The MPI side of one communicator. It outlives the communicator until all ranks have given it up.
struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> launch_ranks;  ///< by rank of the group
  Releases releases;              ///< windows and groups that were made from it
};

}  // namespace megaup::comm::mpi
