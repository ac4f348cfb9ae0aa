#pragma once

#include <optional>
#include <string>

#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>
#include <megaup/simulation/measurements.hpp>

namespace megaup::simulation {

/// A machine from measurements:
///   GEMM table        gemm_only, by (m, n, k, weight_transposed); several times of one shape: their mean
///   exchange curves   exchange_only for the default transport; for the others native_packed_X - gemm_only - reorder_only
///   reorder           least squares of reorder_only over bytes: two passes
///   link rate         the fastest (P-1)/P * bytes / seconds of all curves
///   gemm rate, gap    median of FLOP / gemm_only in full waves; median of native_packed - its parts
///   push, pull        the compute and link factors with the least squared relative error of the fused arms, searched on a grid that is
///                     refined; absent without a fused arm
///   cells             with the held-out errors of validate()
/// Figures that a run cannot tell (peaks, tile, launch, barrier) and curves of further P and transports are taken from `base`, with their
/// sources; its GEMM tables and factors are not, so that nothing measured before passes for this run's. Cannot: no measured cell; the base
/// has another fabric. `name` and `description` go into the machine. Cost: models * cells * grid, some 20 ms for 23 cells of 6 models.
Answer<Machine> calibrate(const Measurements& measurements, const std::optional<Machine>& base, const std::string& name,
                          const std::string& description);

}  // namespace megaup::simulation
