#pragma once

#include <memory>

#include <megaup/comm/exchange.hpp>
#include <megaup/comm/mpi/detail/group.hpp>
#include <megaup/comm/mpi/detail/job.hpp>

namespace megaup::comm::mpi {

std::unique_ptr<Exchange> alltoall_exchange(Job& job, const Group& group, const ExchangeShape& shape);

/// `count` elements of `type` are the bytes of one block, although MPI counts are ints. The type is to be freed unless
/// it is MPI_BYTE.
struct Block {
  MPI_Datatype type;
  int count;
};
/// A block of `bytes`, in pieces of at most `largest` bytes (INT_MAX; smaller in tests).
Block make_block(std::size_t bytes, std::size_t largest);

}  // namespace megaup::comm::mpi
