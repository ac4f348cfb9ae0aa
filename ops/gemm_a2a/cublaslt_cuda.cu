#include <string>

#include <cublasLt.h>

#include <megaup/core/error.hpp>
#include <megaup/ops/gemm_a2a/native_packed_cuda.cuh>

namespace megaup::ops {

namespace {

// What Transformer Engine gives cuBLASLt on compute capability 9 and above.
constexpr std::size_t kWorkspaceBytes = 32 * 1024 * 1024 + 1024;

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw core::Error(core::ErrorKind::environment, std::string(what) + ": cuBLASLt status " + std::to_string(status));
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw core::Error(core::ErrorKind::environment, std::string(what) + ": " + cudaGetErrorString(error));
}

class CublasLt final : public PreparedKernel {
 public:
  // cuBLAS is column-major: it computes C^T [W, M] = op(B) [W, K] * A^T [K, M].
  CublasLt(const DeviceGemm& gemm, void* c) : a_(gemm.a), b_(gemm.b), c_(c) {
    const auto [M, W, K, weight_transposed] = gemm.shape;
    check(cublasLtCreate(&handle_), "cublasLtCreate");
    check(cudaMalloc(&workspace_, kWorkspaceBytes), "workspace of cuBLASLt");
    check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const cublasOperation_t op = weight_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op), "transposed weight");
    const auto rows = static_cast<std::uint64_t>(weight_transposed ? K : W),
               columns = static_cast<std::uint64_t>(weight_transposed ? W : K);
    check(cublasLtMatrixLayoutCreate(&layout_b_, CUDA_R_16BF, rows, columns, static_cast<std::int64_t>(rows)),
          "layout of the weight");
    check(cublasLtMatrixLayoutCreate(&layout_a_, CUDA_R_16BF, static_cast<std::uint64_t>(K),
                                     static_cast<std::uint64_t>(M), K),
          "layout of A");
    check(cublasLtMatrixLayoutCreate(&layout_c_, CUDA_R_16BF, static_cast<std::uint64_t>(W),
                                     static_cast<std::uint64_t>(M), W),
          "layout of C");
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes,
                                               sizeof kWorkspaceBytes),
          "workspace preference");
    int found = 0;
    const auto status = cublasLtMatmulAlgoGetHeuristic(handle_, operation_, layout_b_, layout_a_, layout_c_, layout_c_,
                                                       preference, 1, &heuristic_, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw core::Error(core::ErrorKind::environment, "cuBLASLt has no algorithm for this GEMM");
  }
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  ~CublasLt() override {  // errors on the way out have nobody to go to
    cublasLtMatrixLayoutDestroy(layout_a_);
    cublasLtMatrixLayoutDestroy(layout_b_);
    cublasLtMatrixLayoutDestroy(layout_c_);
    cublasLtMatmulDescDestroy(operation_);
    cudaFree(workspace_);
    cublasLtDestroy(handle_);
  }

  void run(cudaStream_t stream) const override {
    const float alpha = 1, beta = 0;
    check(cublasLtMatmul(handle_, operation_, &alpha, b_, layout_b_, a_, layout_a_, &beta, c_, layout_c_, c_, layout_c_,
                         &heuristic_.algo, workspace_, kWorkspaceBytes, stream),
          "cublasLtMatmul");
  }

 private:
  const void *a_, *b_;
  void *c_, *workspace_ = nullptr;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t layout_a_ = nullptr, layout_b_ = nullptr, layout_c_ = nullptr;
  cublasLtMatmulHeuristicResult_t heuristic_{};
};

}  // namespace

std::unique_ptr<PreparedKernel> prepare_cublaslt(const DeviceGemm& gemm, void* c) {
  return std::make_unique<CublasLt>(gemm, c);
}

}  // namespace megaup::ops
