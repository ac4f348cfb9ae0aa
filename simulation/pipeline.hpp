#pragma once

#include <cstddef>
#include <vector>

namespace megaup::simulation {

/// One part of a pipelined exchange, seconds.
struct PipelinePart {
  double before = 0;    ///< on the multiprocessors before it leaves: pack, and with row chunks the GEMM
  double exchange = 0;  ///< on the link
  double after = 0;     ///< on the multiprocessors once it has come: unpack
};

/// Parts in order: the multiprocessors do `before` of one part after the other, the link takes each as soon as it is there and the link is free,
/// and `after` of part i is done between `before` of parts i + in_flight - 1 and i + in_flight, waiting for its arrival: no more than `in_flight`
/// parts are between the two. The same work run backwards takes as long, so this is also the time of an exchange before the GEMM.
double pipeline_seconds(const std::vector<PipelinePart>& parts, std::size_t in_flight);

}  // namespace megaup::simulation
