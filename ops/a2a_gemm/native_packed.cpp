#include <megaup/ops/a2a_gemm/native.hpp>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_native_packed_arm;

constinit const Arm a2a_gemm_native_packed_arm{
    .name = "native_packed",
    .doc = "one-pass pack, one exchange, one-pass unpack, GEMM: separate steps",
    .kind = Kind::a2a_to_gemm,
    .bound = false,
    .infeasible = a2a_gemm::native_infeasible,
    .prepare = [](Operands& operands,
                  const Context& context) { return a2a_gemm::prepare_native(operands, context, one_part()); },
    .workspace_bytes = a2a_gemm::native_bytes};

}  // namespace megaup::ops
