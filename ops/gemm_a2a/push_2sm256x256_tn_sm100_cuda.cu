#include <megaup/ops/gemm_a2a/push_kernel_sm100_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_2sm256x256_tn;

const CompiledPush push_2sm256x256_tn = device::compiled<device::PushConfigSm100<true>>("2sm256x256");

}  // namespace megaup::ops
