#include <megaup/ops/a2a_gemm/pull_kernel_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_c128x256_tn;
const CompiledPull pull_c128x256_tn =
    device::compiled_pull<device::PullConfig<Schedule::cooperative, 128, 256, 2, 1, true>>("c128x256");

}  // namespace megaup::ops
