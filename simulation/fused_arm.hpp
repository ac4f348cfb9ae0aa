#pragma once

#include <megaup/core/operation.hpp>
#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {

/// What a fused kernel consists of, seconds: all of its multiplying, and all of its bytes on the link.
struct FusedWork {
  double compute = 0, link = 0;
  double waves = 1;
  double own_share = 1;  ///< 1/P: of each tile's K that needs no other rank, for the exchange-first kernels
};

/// GEMM first, wave by wave: wave i is ready after i + 1 of the compute; its bytes start at max(ready, link free). With equal waves the
/// recurrence comes down to
///   max(compute + link / waves, compute / waves + link)
/// the GEMM with the bytes of its last wave behind it, or the link with its first wave before it.
double push_seconds(const FusedWork& work);

/// Exchange first: the link brings the rows of one wave after the other; a wave multiplies its own share, then waits for its rows.
///   max(compute, (1 - own share / waves) * compute + link / waves, link + (1 - own share) * compute / waves)
/// never late, late for the first wave, late for the last one.
double pull_seconds(const FusedWork& work);

/// Seconds of the fused arm: one of the two with compute = factor * gemm_time and link = factor * link bytes / link rate, + barrier. On one
/// rank nothing is moved: factor * gemm_time alone. Cannot: no contention factors of this kind of kernel (no fused arm was measured), no link
/// rate, or the GEMM cannot be predicted.
Answer<Estimate> fused_time(const Machine& machine, const core::OperationForm& op, const core::Problem& problem);

/// The work of fused_time for factors of 1.
Answer<FusedWork> fused_work(const Machine& machine, const core::OperationForm& op, const core::Problem& problem);

}  // namespace megaup::simulation
