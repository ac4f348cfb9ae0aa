#include <megaup/ops/a2a_gemm/pull_kernel_sm100_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_2sm256x256_nn;
const CompiledPull pull_2sm256x256_nn = device::compiled_pull<device::PullConfigSm100<false>>("2sm256x256");

}  // namespace megaup::ops
