#pragma once

#include <memory>

#include <megaup/comm/communicator.hpp>

namespace megaup::comm::mpi {

/// The all-to-all as MPI_Ialltoall, one request a slot: what Communicator::exchange gives when the group spans several
/// nodes. On one node it gives the pulled exchange over a shared window instead, because that copies each byte once
/// where Open MPI's Ialltoall copies it twice; this function is for comparing the two. Throws Error{cell} if `group` is
/// not of the mpi backend.
std::unique_ptr<Exchange> alltoall_exchange(Communicator& group, const ExchangeShape& shape);

}  // namespace megaup::comm::mpi
