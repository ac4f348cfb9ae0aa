#pragma once

#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {

/// Seconds of one pass over a buffer of `bytes` (pack or unpack): launch + 2*bytes/rate. Cannot: the machine has no reorder figures.
Answer<Estimate> reorder_time(const Machine& machine, double bytes);

}  // namespace megaup::simulation
