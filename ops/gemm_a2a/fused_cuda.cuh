#pragma once

#include <memory>

#include <megaup/ops/arm.hpp>
#include <megaup/ops/gemm_a2a/push_gemm_cuda.cuh>

namespace megaup::ops {

/// One compiled kernel with its order of tiles.
struct PushChoice {
  const CompiledPush* kernel = nullptr;
  Raster raster{};
  int swizzle = 1;
};

/// The arm `fused` with this choice in the place of the planner's. Ranks: collective; the choices may differ. Requires
/// that the arm's infeasible() gave no reason, and a kernel of the operation's orientation.
std::unique_ptr<PreparedOperation> prepare_fused_push(Operands& operands, const Context& context,
                                                      const PushChoice& choice);

}  // namespace megaup::ops
