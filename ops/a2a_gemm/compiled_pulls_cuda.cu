#include <megaup/ops/a2a_gemm/pull_gemm_cuda.cuh>

namespace megaup::ops {

extern const CompiledPull pull_c128x256_tn, pull_c128x256_nn, pull_c256x192_tn, pull_c256x192_nn, pull_pp128x192_tn,
    pull_pp128x192_nn, pull_pp128x128_tn, pull_pp128x128_nn;

std::span<const CompiledPull> compiled_pulls() {
  static const CompiledPull rows[] = {pull_c128x256_tn,  pull_c128x256_nn,  pull_c256x192_tn,  pull_c256x192_nn,
                                      pull_pp128x192_tn, pull_pp128x192_nn, pull_pp128x128_tn, pull_pp128x128_nn};
  return rows;
}

}  // namespace megaup::ops
