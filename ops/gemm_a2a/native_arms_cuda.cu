#include <megaup/ops/device_rows_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_native_packed_cuda_arm;
extern constinit const Arm gemm_a2a_native_packed_window_cuda_arm;
extern constinit const Arm gemm_a2a_native_packed_zero_cta_cuda_arm;
extern constinit const Arm gemm_a2a_native_packed_ce_cuda_arm;
extern constinit const Arm gemm_a2a_native_pipelined_ce_cuda_arm;
extern constinit const Arm gemm_a2a_native_chunked_ce_cuda_arm;

constinit const Arm gemm_a2a_native_packed_cuda_arm = device_native_packed<comm::Transport::automatic>(
    Kind::gemm_to_a2a, "native_packed",
    "cuBLASLt, one-pass pack, one exchange as the backend has it (NCCL where it can be), one-pass unpack");

constinit const Arm gemm_a2a_native_packed_window_cuda_arm = device_native_packed_window(Kind::gemm_to_a2a);

constinit const Arm gemm_a2a_native_packed_zero_cta_cuda_arm = device_native_packed_zero_cta(Kind::gemm_to_a2a);

constinit const Arm gemm_a2a_native_packed_ce_cuda_arm = device_native_packed_ce(Kind::gemm_to_a2a);

constinit const Arm gemm_a2a_native_pipelined_ce_cuda_arm = device_native_pipelined_ce(
    Kind::gemm_to_a2a,
    "cuBLASLt, then an exchange by copy engines for each of Q, K and V, each packed while the one before is under "
    "way");

constinit const Arm gemm_a2a_native_chunked_ce_cuda_arm = device_native_chunked_ce(
    Kind::gemm_to_a2a, "the GEMM in row chunks, each exchanged by copy engines while the next is multiplied");

}  // namespace megaup::ops
