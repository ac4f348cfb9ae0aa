#include <megaup/ops/gemm_a2a/push_kernel_sm100_cuda.cuh>

namespace megaup::ops {

extern const CompiledPush push_2sm256x256_nn;

const CompiledPush push_2sm256x256_nn = device::compiled<device::PushConfigSm100<false>>("2sm256x256");

}  // namespace megaup::ops
