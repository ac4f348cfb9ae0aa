#include <megaup/ops/gemm_a2a/native.hpp>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_native_pipelined_arm;

constinit const Arm gemm_a2a_native_pipelined_arm{
    .name = "native_pipelined",
    .doc = "GEMM, then an exchange for each of Q, K and V, each packed while the one before is under way",
    .kind = Kind::gemm_to_a2a,
    .bound = false,
    .infeasible = gemm_a2a::native_infeasible,
    .prepare =
        [](Operands& operands, const Context& context) {
          return gemm_a2a::prepare_native(operands, context, part_for_each_kind(operands.operation()));
        },
    .workspace_bytes = gemm_a2a::native_bytes};

}  // namespace megaup::ops
