#include <megaup/ops/device_rows_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_gemm_only_cuda_arm;
extern constinit const Arm gemm_a2a_exchange_only_cuda_arm;
extern constinit const Arm gemm_a2a_reorder_only_cuda_arm;

constinit const Arm gemm_a2a_gemm_only_cuda_arm =
    device_gemm_only(Kind::gemm_to_a2a, "the GEMM by cuBLASLt into a wide matrix, nothing else");
constinit const Arm gemm_a2a_exchange_only_cuda_arm = device_exchange_only(Kind::gemm_to_a2a);
constinit const Arm gemm_a2a_reorder_only_cuda_arm = device_reorder_only(Kind::gemm_to_a2a);

}  // namespace megaup::ops
