#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cuda_bf16.h>

#include <megaup/ops/fused_kernels.hpp>
#include <megaup/ops/operation.hpp>
#include <megaup/ops/prepared_kernel_cuda.cuh>

/// Matrices of BF16 in device memory: filled, poisoned and compared there.
namespace megaup::cuda_tests {

using ops::device::check;

/// Of the current device. Throws Error{environment} where there are no fused kernels for it.
ops::Architecture current_architecture();

/// Rows of compiled_pushes() or compiled_pulls() that the current device can run.
template <class Compiled>
std::vector<const Compiled*> of_this_device(std::span<const Compiled* const> rows) {
  std::vector<const Compiled*> out;
  for (const Compiled* row : rows)
    if (row->architecture == current_architecture()) out.push_back(row);
  return out;
}

/// Device memory of one owner, on the current device or on another one whose memory the current device reaches.
class Memory {
 public:
  explicit Memory(std::int64_t bytes);
  Memory(std::int64_t bytes, int device);
  Memory(Memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() { cudaFree(data_); }
  void* data() const { return data_; }
  __nv_bfloat16* bf16() const { return static_cast<__nv_bfloat16*>(data_); }
  std::int64_t bytes() const { return bytes_; }
  void fill(int byte) const;

 private:
  void* data_ = nullptr;
  std::int64_t bytes_;
};

/// Bytes of 0xFFFF, a NaN that no sum of such inputs gives: what was not written shows.
inline constexpr int kPoison = 0xff;

/// Uniform BF16 in [-scale, scale).
void fill_uniform(const Memory& memory, std::uint64_t seed, float scale);

/// Elements that differ in their bits, added to *count on the device.
void add_differences(const void* x, const void* y, std::int64_t bytes, unsigned long long* count, cudaStream_t stream);
std::int64_t differences(const void* x, const void* y, std::int64_t bytes);

/// Largest |C - FP64| / bound over 4096 elements, FP64 from A [m, k] and the weight; the bound is half a BF16 step of
/// the value plus k roundings of FP32. NaN if any is.
double worst_error(const ops::GemmShape& shape, const Memory& a, const Memory& weight, const Memory& c);

namespace device {

inline constexpr int kThreads = 256, kGrid = 132 * 8;

/// splitmix64's finaliser: every input bit reaches every output bit.
__host__ __device__ inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Element i of a uniform fill.
__device__ inline __nv_bfloat16 uniform(std::uint64_t seed, std::int64_t i, float scale) {
  const float unit =
      static_cast<float>(mixed(seed + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull) >> 40) * 0x1p-24f;
  return __float2bfloat16(scale * (2 * unit - 1));
}

/// The grid's threads share n elements.
template <class Visit>
__device__ void each_element(std::int64_t n, const Visit& visit) {
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * kThreads)
    visit(i);
}

}  // namespace device

}  // namespace megaup::cuda_tests
