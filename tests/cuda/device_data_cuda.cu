#include <device_data_cuda.cuh>

#include <algorithm>
#include <cmath>
#include <vector>

namespace megaup::cuda_tests {

namespace device {

__global__ void fill_uniform(__nv_bfloat16* to, std::int64_t n, std::uint64_t seed, float scale) {
  each_element(n, [&](std::int64_t i) { to[i] = uniform(seed, i, scale); });
}

__global__ void count_differences(const std::uint16_t* x, const std::uint16_t* y, std::int64_t n,
                                  unsigned long long* count) {
  unsigned long long mine = 0;
  each_element(n, [&](std::int64_t i) { mine += x[i] != y[i]; });
  if (mine != 0) atomicAdd(count, mine);
}

/// error[i] = |C - FP64| / bound at a random element.
__global__ void sample_errors(ops::GemmShape shape, const __nv_bfloat16* a, const __nv_bfloat16* b,
                              const __nv_bfloat16* c, double* error, int samples) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i >= samples) return;
  const auto m = static_cast<std::int64_t>(mixed(2 * i + 1) % static_cast<std::uint64_t>(shape.m));
  const auto n = static_cast<std::int64_t>(mixed(2 * i + 2) % static_cast<std::uint64_t>(shape.n));
  double sum = 0, magnitude = 0;
  for (std::int64_t k = 0; k < shape.k; ++k) {
    const double factor = __bfloat162float(shape.weight_transposed ? b[n * shape.k + k] : b[k * shape.n + n]);
    const double term = static_cast<double>(__bfloat162float(a[m * shape.k + k])) * factor;
    sum += term;
    magnitude += fabs(term);
  }
  const double bound = fabs(sum) * 0x1p-8 + static_cast<double>(shape.k) * 0x1p-24 * magnitude;
  error[i] = fabs(static_cast<double>(__bfloat162float(c[m * shape.n + n])) - sum) / bound;
}

}  // namespace device

ops::Architecture current_architecture() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "compute capability");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "compute capability");
  if (const auto architecture = ops::fused_architecture(major, minor)) return *architecture;
  throw core::Error(core::ErrorKind::environment, *ops::no_fused_kernels(major, minor));
}

Memory::Memory(std::int64_t bytes) : bytes_(bytes) {
  check(cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16))), "cudaMalloc");
}

Memory::Memory(std::int64_t bytes, int device) : bytes_(bytes) {
  int here = 0;
  check(cudaGetDevice(&here), "cudaGetDevice");
  if (device != here)
    if (const cudaError_t error = cudaDeviceEnablePeerAccess(device, 0);
        error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled)
      check(error, "peer access");
  cudaGetLastError();  // of an access that is enabled already
  check(cudaSetDevice(device), "cudaSetDevice");
  const cudaError_t allocated = cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16)));
  check(cudaSetDevice(here), "cudaSetDevice");
  check(allocated, "cudaMalloc");
}

void Memory::fill(int byte) const { check(cudaMemset(data_, byte, static_cast<std::size_t>(bytes_)), "memset"); }

void fill_uniform(const Memory& memory, std::uint64_t seed, float scale) {
  device::fill_uniform<<<device::kGrid, device::kThreads>>>(memory.bf16(), memory.bytes() / 2, device::mixed(seed),
                                                            scale);
  check(cudaGetLastError(), "random elements");
}

void add_differences(const void* x, const void* y, std::int64_t bytes, unsigned long long* count, cudaStream_t stream) {
  device::count_differences<<<device::kGrid, device::kThreads, 0, stream>>>(
      static_cast<const std::uint16_t*>(x), static_cast<const std::uint16_t*>(y), bytes / 2, count);
  check(cudaGetLastError(), "comparison");
}

std::int64_t differences(const void* x, const void* y, std::int64_t bytes) {
  const Memory count(sizeof(unsigned long long));
  count.fill(0);
  add_differences(x, y, bytes, static_cast<unsigned long long*>(count.data()), nullptr);
  unsigned long long n = 0;
  check(cudaMemcpy(&n, count.data(), sizeof n, cudaMemcpyDeviceToHost), "comparison");
  return static_cast<std::int64_t>(n);
}

double worst_error(const ops::GemmShape& shape, const Memory& a, const Memory& weight, const Memory& c) {
  constexpr int kSamples = 4096;
  const Memory error(kSamples * 8);
  device::sample_errors<<<kSamples / device::kThreads, device::kThreads>>>(
      shape, a.bf16(), weight.bf16(), c.bf16(), static_cast<double*>(error.data()), kSamples);
  std::vector<double> values(kSamples);
  check(cudaMemcpy(values.data(), error.data(), kSamples * 8, cudaMemcpyDeviceToHost), "samples");
  double worst = 0;
  for (const double value : values) worst = value <= worst ? worst : value;  // NaN becomes the worst, and stays
  return worst;
}

}  // namespace megaup::cuda_tests
