#include <megaup/ops/a2a_gemm/pull_kernel_sm100_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_2sm256x256_tn;
const CompiledPull pull_2sm256x256_tn = device::compiled_pull<device::PullConfigSm100<true>>("2sm256x256");

}  // namespace megaup::ops
