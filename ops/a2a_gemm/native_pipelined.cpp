#include <megaup/ops/a2a_gemm/native.hpp>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_native_pipelined_arm;

constinit const Arm a2a_gemm_native_pipelined_arm{
    .name = "native_pipelined",
    .doc = "an exchange for each of Q, K and V, each packed while the one before is under way, then the GEMM",
    .kind = Kind::a2a_to_gemm,
    .bound = false,
    .infeasible = a2a_gemm::native_infeasible,
    .prepare =
        [](Operands& operands, const Context& context) {
          return a2a_gemm::prepare_native(operands, context, part_for_each_kind(operands.operation()));
        },
    .workspace_bytes = a2a_gemm::native_bytes};

}  // namespace megaup::ops
