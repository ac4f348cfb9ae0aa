#include <algorithm>
#include <string>
#include <utility>

#include <megaup/core/error.hpp>
#include <megaup/ops/gemm_a2a/native_packed_cuda.cuh>

namespace megaup::ops {

namespace device {

using Chunk = uint4;               // 16 bytes: the widest load
constexpr int kChunkElements = 8;  // BF16
constexpr int kThreads = 256;
constexpr int kRowsInFlight = 8;  // independent loads of a thread: enough to cover the latency of device memory

struct HeadCopy {
  HeadPiece pieces[PushMap::kMaxHeads];
  int chunks;  // of all pieces together, in one row
  int chunks_of_piece;
  int rows;
};

/// A thread has one chunk of columns and kRowsInFlight rows; neighbours have neighbouring chunks, so both sides move
/// whole lines.
__global__ void __launch_bounds__(kThreads) copy_heads(const __grid_constant__ HeadCopy copy) {
  const int chunk = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (chunk >= copy.chunks) return;
  const HeadPiece& piece = copy.pieces[chunk / copy.chunks_of_piece];
  const int column = chunk % copy.chunks_of_piece;
  const int first = static_cast<int>(blockIdx.y) * kRowsInFlight;
  const auto* from = static_cast<const Chunk*>(piece.from) + column;  // [M, from_pitch/8]
  auto* to = static_cast<Chunk*>(piece.to) + column;                  // [rows, to_pitch/8]
  const std::int64_t from_pitch = piece.from_pitch / kChunkElements, to_pitch = piece.to_pitch / kChunkElements;

  Chunk data[kRowsInFlight];
#pragma unroll
  for (int i = 0; i < kRowsInFlight; ++i)
    if (first + i < copy.rows)
      data[i] = __ldcs(from + (first + i) * from_pitch);  // read once: leave the cache to others
#pragma unroll
  for (int i = 0; i < kRowsInFlight; ++i)
    if (first + i < copy.rows) {
      const std::int64_t row = piece.to_rows == nullptr ? first + i : piece.to_rows[first + i];
      to[row * to_pitch] = data[i];
    }
}

inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw core::Error(core::ErrorKind::environment, std::string(what) + ": " + cudaGetErrorString(error));
}

class HeadCopyLaunch final : public PreparedKernel {
 public:
  explicit HeadCopyLaunch(const HeadCopy& copy)
      : copy_(copy), grid_((copy.chunks + kThreads - 1) / kThreads, (copy.rows + kRowsInFlight - 1) / kRowsInFlight) {}
  void run(cudaStream_t stream) const override {
    copy_heads<<<grid_, kThreads, 0, stream>>>(copy_);
    check(cudaGetLastError(), "launch of a reorder");
  }

 private:
  HeadCopy copy_;
  dim3 grid_;
};

class SlabCopies final : public PreparedKernel {
 public:
  explicit SlabCopies(std::vector<SlabCopy> copies) : copies_(std::move(copies)) {}
  void run(cudaStream_t stream) const override {
    for (const SlabCopy& copy : copies_)
      check(cudaMemcpyAsync(copy.to, copy.from, static_cast<std::size_t>(copy.bytes), cudaMemcpyDeviceToDevice, stream),
            "peer copy");
  }

 private:
  std::vector<SlabCopy> copies_;
};

class Sequence final : public PreparedKernel {
 public:
  explicit Sequence(std::vector<std::shared_ptr<PreparedKernel>> steps) : steps_(std::move(steps)) {}
  void run(cudaStream_t stream) const override {
    for (const auto& step : steps_) step->run(stream);
  }

 private:
  std::vector<std::shared_ptr<PreparedKernel>> steps_;
};

}  // namespace device

std::unique_ptr<PreparedKernel> prepare_head_copy(const std::vector<HeadPiece>& pieces, std::int64_t rows,
                                                  std::int64_t D) {
  if (pieces.size() > PushMap::kMaxHeads)
    throw core::Error(core::ErrorKind::environment,
                      "a reorder of " + std::to_string(pieces.size()) + " heads does not fit its kernel");
  device::HeadCopy copy{};
  std::ranges::copy(pieces, copy.pieces);
  copy.chunks_of_piece = static_cast<int>(D / device::kChunkElements);
  copy.chunks = static_cast<int>(pieces.size()) * copy.chunks_of_piece;
  copy.rows = static_cast<int>(rows);
  return std::make_unique<device::HeadCopyLaunch>(copy);
}

std::unique_ptr<PreparedKernel> prepare_slab_copies(std::vector<SlabCopy> copies) {
  return std::make_unique<device::SlabCopies>(std::move(copies));
}

std::unique_ptr<PreparedKernel> prepare_sequence(std::vector<std::shared_ptr<PreparedKernel>> steps) {
  return std::make_unique<device::Sequence>(std::move(steps));
}

}  // namespace megaup::ops
