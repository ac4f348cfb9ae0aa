#include <megaup/ops/gemm_a2a/push_gemm_cuda.cuh>

namespace megaup::ops {

std::span<const CompiledPush> compiled_pushes() {
  static const CompiledPush rows[] = {c128x256_tn,  c128x256_nn,  c256x192_tn,  c256x192_nn,
                                      pp128x192_tn, pp128x192_nn, pp128x128_tn, pp128x128_nn};
  return rows;
}

}  // namespace megaup::ops
