#pragma once

#include <memory>
#include <span>

#include <megaup/comm/communicator.hpp>

namespace megaup::comm {

/// The all-to-all over peer memory: send buffers lie in it, and finish(slot) copies each peer's block into the own
/// receive buffer.
///
/// Picture  rank 1 of 4: start publishes its block to ranks 2 3 0; finish copies from 2, 3, 0 as each is published,
///          then from itself.
/// Cost     one copy of every byte, read from the peer and written locally. Rank r begins at r+1, so that no two ranks
///          read from one peer.
/// Ranks    collective. `launch_ranks` are the ranks of the group as the launch numbers them, for messages.
std::unique_ptr<Exchange> pulled_exchange(Communicator& group, std::span<const int> launch_ranks,
                                          const ExchangeShape& shape);

}  // namespace megaup::comm
