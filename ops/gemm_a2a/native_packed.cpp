#include <megaup/ops/gemm_a2a/native.hpp>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_native_packed_arm;

constinit const Arm gemm_a2a_native_packed_arm{
    .name = "native_packed",
    .doc = "GEMM, one-pass pack, one exchange, one-pass unpack: separate steps",
    .kind = Kind::gemm_to_a2a,
    .bound = false,
    .infeasible = gemm_a2a::native_infeasible,
    .prepare = [](Operands& operands,
                  const Context& context) { return gemm_a2a::prepare_native(operands, context, one_part()); },
    .workspace_bytes = gemm_a2a::native_bytes};

}  // namespace megaup::ops
