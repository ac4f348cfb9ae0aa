#include <megaup/ops/device_rows_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_gemm_only_cuda_arm;
extern constinit const Arm a2a_gemm_exchange_only_cuda_arm;
extern constinit const Arm a2a_gemm_reorder_only_cuda_arm;

constinit const Arm a2a_gemm_gemm_only_cuda_arm =
    device_gemm_only(Kind::a2a_to_gemm, "the GEMM by cuBLASLt from a wide matrix, nothing else");
constinit const Arm a2a_gemm_exchange_only_cuda_arm = device_exchange_only(Kind::a2a_to_gemm);
constinit const Arm a2a_gemm_reorder_only_cuda_arm = device_reorder_only(Kind::a2a_to_gemm);

}  // namespace megaup::ops
