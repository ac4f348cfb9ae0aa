#include <megaup/ops/cublaslt_cuda.cuh>

#include <cublasLt.h>

namespace megaup::ops {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw core::Error(core::ErrorKind::environment, std::string(what) + ": cuBLASLt status " + std::to_string(status));
}

std::int64_t workspace_bytes() {
  int device = 0, major = 0;
  device::check(cudaGetDevice(&device), "current device");
  device::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "compute capability");
  return major >= 9 ? CublasLt::kWorkspaceBytes : CublasLt::kWorkspaceBytesBefore9;
}

/// A row-major matrix is a column-major one of its transpose.
class Layout {
 public:
  explicit Layout(core::ConstBf16Matrix m) {
    check(cublasLtMatrixLayoutCreate(&layout_, CUDA_R_16BF, static_cast<std::uint64_t>(m.columns),
                                     static_cast<std::uint64_t>(m.rows), m.ld),
          "layout of a matrix");
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  operator cublasLtMatrixLayout_t() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

int chosen(const cublasLtMatmulAlgo_t& algo, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  int value = -1;
  std::size_t written = 0;
  // Attributes of other widths than int leave it as it is: a description, nothing depends on it.
  if (cublasLtMatmulAlgoConfigGetAttribute(&algo, attribute, &value, sizeof value, &written) != CUBLAS_STATUS_SUCCESS)
    return -1;
  return value;
}

}  // namespace

struct CublasLt::Session {
  Session() : bytes(static_cast<std::size_t>(workspace_bytes())) {
    check(cublasLtCreate(&handle), "cublasLtCreate");
    device::check(cudaMalloc(&workspace, bytes), "workspace of cuBLASLt");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {  // errors on the way out have nobody to go to
    cudaFree(workspace);
    cublasLtDestroy(handle);
  }

  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::size_t bytes;
};

namespace {

template <class Session>
class HeuristicGemm final : public CublasLt::Gemm {
 public:
  // cuBLAS is column-major: it computes C^T [n, m] = op(B) [n, k] * A^T [k, m].
  HeuristicGemm(std::shared_ptr<const Session> session, const LtGemm& gemm)
      : session_(std::move(session)), gemm_(gemm), a_(gemm.a), b_(gemm.b), c_(gemm.c) {
    check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const cublasOperation_t op = gemm.weight_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op), "transposed weight");
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &session_->bytes,
                                               sizeof session_->bytes),
          "workspace preference");
    int found = 0;
    const auto status = cublasLtMatmulAlgoGetHeuristic(session_->handle, operation_, b_, a_, c_, c_, preference, 1,
                                                       &heuristic_, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw core::Error(core::ErrorKind::environment, "cuBLASLt has no algorithm for this GEMM");
  }
  HeuristicGemm(const HeuristicGemm&) = delete;
  HeuristicGemm& operator=(const HeuristicGemm&) = delete;
  ~HeuristicGemm() override { cublasLtMatmulDescDestroy(operation_); }

  void run(cudaStream_t stream) const override {
    const float alpha = 1, beta = 0;
    check(cublasLtMatmul(session_->handle, operation_, &alpha, gemm_.b.data, b_, gemm_.a.data, a_, &beta, gemm_.c.data,
                         c_, gemm_.c.data, c_, &heuristic_.algo, session_->workspace, session_->bytes, stream),
          "cublasLtMatmul");
  }

  std::string describe() const override {
    const auto value = [&](auto attribute) { return std::to_string(chosen(heuristic_.algo, attribute)); };
    return "cublasLt " + std::to_string(cublasLtGetVersion()) + " algorithm " + value(CUBLASLT_ALGO_CONFIG_ID) +
           " tile " + value(CUBLASLT_ALGO_CONFIG_TILE_ID) + " stages " + value(CUBLASLT_ALGO_CONFIG_STAGES_ID);
  }

 private:
  std::shared_ptr<const Session> session_;
  LtGemm gemm_;
  Layout a_, b_, c_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatmulHeuristicResult_t heuristic_{};
};

}  // namespace

CublasLt::CublasLt() : session_(std::make_shared<Session>()) {}

std::unique_ptr<CublasLt::Gemm> CublasLt::prepare(const LtGemm& gemm, cudaStream_t stream) const {
  auto prepared = std::make_unique<HeuristicGemm<Session>>(session_, gemm);
  prepared->run(stream);
  device::check(cudaStreamSynchronize(stream), "first launch of a GEMM");
  return prepared;
}

}  // namespace megaup::ops
