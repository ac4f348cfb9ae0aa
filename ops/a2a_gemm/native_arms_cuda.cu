#include <megaup/ops/device_rows_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_native_packed_cuda_arm;
extern constinit const Arm a2a_gemm_native_packed_window_cuda_arm;
extern constinit const Arm a2a_gemm_native_packed_zero_cta_cuda_arm;
extern constinit const Arm a2a_gemm_native_packed_ce_cuda_arm;
extern constinit const Arm a2a_gemm_native_pipelined_ce_cuda_arm;
extern constinit const Arm a2a_gemm_native_chunked_ce_cuda_arm;

constinit const Arm a2a_gemm_native_packed_cuda_arm = device_native_packed<comm::Transport::automatic>(
    Kind::a2a_to_gemm, "native_packed",
    "one-pass pack, one exchange as the backend has it (NCCL where it can be), one-pass unpack, cuBLASLt");

constinit const Arm a2a_gemm_native_packed_window_cuda_arm = device_native_packed_window(Kind::a2a_to_gemm);

constinit const Arm a2a_gemm_native_packed_zero_cta_cuda_arm = device_native_packed_zero_cta(Kind::a2a_to_gemm);

constinit const Arm a2a_gemm_native_packed_ce_cuda_arm = device_native_packed_ce(Kind::a2a_to_gemm);

constinit const Arm a2a_gemm_native_pipelined_ce_cuda_arm = device_native_pipelined_ce(
    Kind::a2a_to_gemm,
    "an exchange by copy engines for each of Q, K and V, each packed while the one before is under way, then "
    "cuBLASLt");

constinit const Arm a2a_gemm_native_chunked_ce_cuda_arm = device_native_chunked_ce(
    Kind::a2a_to_gemm, "the GEMM in row chunks, each multiplied while the next is exchanged by copy engines");

}  // namespace megaup::ops
