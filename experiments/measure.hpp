#pragma once

#include <atomic>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/record.hpp>
#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/stopping.hpp>
#include <megaup/ops/arm.hpp>

namespace megaup::experiments {

/// A record of the cell with no time in it (every latency NaN): what refused, failed and unfinished cells are stored as.
core::CellRecord blank_cell(const Plan& plan, const Cell& cell, int ranks);

/// Of so many ranks, those whose times are stored: rank 0 alone in solo timing, else all. The length of the latency's rank axis.
int timed_ranks(const Plan& plan, int ranks);

/// Measures one cell on all ranks of `world`, in groups of cp consecutive ranks that work at the same time (the latency's rank axis is the
/// world). Order: prepare inputs, choose the GEMM provider, check every arm against the oracle, then the blocks.
/// Collective. Returns the whole record on every rank. A cell that fails in a way that all ranks agree on (an arm that cannot run, a result
/// that does not match, time over) comes back with status failed and its reason; a wish to stop throws AgreedError{stopped}.
/// Any other exception must end the launch. `stopping` is asked if the spec has measure.stop; the record then has the blocks that were run.
core::CellRecord measure_cell(const Plan& plan, const Cell& cell, comm::Communicator& world, const ops::ArmLookup& find_arm,
                              const Stopping& stopping, const std::atomic<bool>& stop);

}  // namespace megaup::experiments
