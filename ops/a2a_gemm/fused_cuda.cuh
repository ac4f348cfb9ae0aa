#pragma once

#include <memory>

#include <megaup/ops/a2a_gemm/pull_gemm_cuda.cuh>
#include <megaup/ops/arm.hpp>

namespace megaup::ops {

/// One compiled kernel with its order of tiles and of what it moves.
struct PullChoice {
  const CompiledPull* kernel = nullptr;
  int swizzle = 1;
  PullMoves moves{};
  ShardOrder order = ShardOrder::own_first;
};

/// The arm `fused` with this choice in the place of the planner's. Ranks: collective; the choices may differ. Requires
/// that the arm's infeasible() gave no reason, a kernel of the operation's orientation, and moves of its plan for this
/// kernel and swizzle, in which the units alone may be others.
std::unique_ptr<PreparedOperation> prepare_fused_pull(Operands& operands, const Context& context,
                                                      const PullChoice& choice);

}  // namespace megaup::ops
