#include <push_case_cuda.cuh>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <cuda_bf16.h>

namespace megaup::cuda_tests {

namespace device {

constexpr int kThreads = 256;

__host__ __device__ inline std::uint64_t mixed(
    std::uint64_t x) {  // splitmix64's finaliser: every input bit reaches every output bit
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__global__ void fill_random(__nv_bfloat16* to, std::int64_t n, std::uint64_t seed, float scale) {
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * kThreads) {
    const float unit =
        static_cast<float>(mixed(seed + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull) >> 40) * 0x1p-24f;
    to[i] = __float2bfloat16(scale * (2 * unit - 1));
  }
}

struct Destinations {
  std::uint16_t* home[ops::PushMap::kMaxHomes];
};

/// One thread an element, by the project's index maps; nothing of the push's tables.
__global__ void scatter(core::Problem problem, core::HeadLayout heads, std::int64_t rank, const std::uint16_t* wide,
                        Destinations to) {
  const core::TokenLayout tokens{problem};
  const std::int64_t n = problem.M() * heads.width();
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * kThreads) {
    const std::int64_t m = i / heads.width(), column = i % heads.width();
    const core::HeadId head = heads.at(column / problem.D);
    const std::int64_t offset = core::head_offset(tokens.destination_row(rank, m), heads.local_heads(head.kind),
                                                  heads.local_head(head), problem.D, column % problem.D);
    for (std::int64_t copy = 0; copy < heads.copies(head.kind); ++copy)
      to.home[(heads.first_rank(head) + copy) * ops::kPushKinds + static_cast<int>(head.kind)][offset] = wide[i];
  }
}

__global__ void count_differences(const std::uint16_t* x, const std::uint16_t* y, std::int64_t n,
                                  unsigned long long* count) {
  unsigned long long mine = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * kThreads)
    mine += x[i] != y[i];
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
    const double weight = __bfloat162float(shape.weight_transposed ? b[n * shape.k + k] : b[k * shape.n + n]);
    const double term = static_cast<double>(__bfloat162float(a[m * shape.k + k])) * weight;
    sum += term;
    magnitude += fabs(term);
  }
  const double bound = fabs(sum) * 0x1p-8 + static_cast<double>(shape.k) * 0x1p-24 * magnitude;
  error[i] = fabs(static_cast<double>(__bfloat162float(c[m * shape.n + n])) - sum) / bound;
}

constexpr int kGrid = 132 * 8;

std::int64_t differences(const void* x, const void* y, std::int64_t bytes) {
  Memory count(sizeof(unsigned long long));
  check(cudaMemset(count.data(), 0, sizeof(unsigned long long)), "memset");
  count_differences<<<kGrid, kThreads>>>(static_cast<const std::uint16_t*>(x), static_cast<const std::uint16_t*>(y),
                                         bytes / 2, static_cast<unsigned long long*>(count.data()));
  unsigned long long n = 0;
  check(cudaMemcpy(&n, count.data(), sizeof n, cudaMemcpyDeviceToHost), "comparison");
  return static_cast<std::int64_t>(n);
}

}  // namespace device

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

Memory::Memory(std::int64_t bytes) : bytes_(bytes) {
  check(cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16))), "cudaMalloc");
}

PushCase::PushCase(const ops::Operation& op, const core::Problem& p, std::int64_t r)
    : operation(op),
      problem(p),
      rank(r),
      shape(ops::gemm_shape(op, p)),
      heads{p, op.columns},
      a(shape.m * shape.k * 2),
      b(shape.n * shape.k * 2),
      wide(shape.m * shape.n * 2),
      send(p.P * p.M() * heads.slab_width() * 2),
      receive(send.bytes()),
      rows(p.P * p.M() * 4),
      barrier_words((3 + ops::PushMap::kMaxRanks * ops::PushMap::kMaxRanks) * 4) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "SM count");
  std::vector<std::int32_t> row_table;
  const core::TokenLayout tokens{p};
  for (std::int64_t q = 0; q < p.P; ++q) {
    for (std::int64_t m = 0; m < p.M(); ++m)
      row_table.push_back(static_cast<std::int32_t>(tokens.destination_row(q, m)));
    for (const auto kind : {core::Head::query, core::Head::key, core::Head::value}) {
      homes.emplace_back(p.B * p.S() * heads.local_heads(kind) * p.D * 2);
      expected.emplace_back(homes.back().bytes());
    }
    peer_slots.emplace_back(p.M() * heads.slab_width() * 2);
  }
  check(cudaMemcpy(rows.data(), row_table.data(), row_table.size() * 4, cudaMemcpyHostToDevice), "row table");
  // The peers of a solo rank have always arrived: half of the range ahead of any epoch it will reach.
  std::vector<std::uint32_t> words(static_cast<std::size_t>(barrier_words.bytes() / 4), 0);
  for (std::int64_t peer = 0; peer < p.P; ++peer)
    if (peer != r) words[static_cast<std::size_t>(3 + r * p.P + peer)] = 0x7fffffff;
  check(cudaMemcpy(barrier_words.data(), words.data(), words.size() * 4, cudaMemcpyHostToDevice), "flags");
}

void PushCase::randomise(std::uint64_t seed) {
  const auto fill = [](const Memory& memory, std::uint64_t s, float scale) {
    device::fill_random<<<device::kGrid, device::kThreads>>>(static_cast<__nv_bfloat16*>(memory.data()),
                                                             memory.bytes() / 2, s, scale);
  };
  fill(a, device::mixed(seed), 1.0f);
  fill(b, device::mixed(seed + 1), 0.125f);
  fill(receive, device::mixed(seed + 2), 1.0f);
  check(cudaGetLastError(), "random input");
}

void PushCase::poison() {
  for (const Memory& home : homes)
    check(cudaMemset(home.data(), 0xff, static_cast<std::size_t>(home.bytes())), "poison");
}

void PushCase::compute_expected() {
  cublaslt()->run(nullptr);
  device::Destinations to{};
  for (std::size_t home = 0; home < expected.size(); ++home) {
    check(cudaMemset(expected[home].data(), 0xff, static_cast<std::size_t>(expected[home].bytes())), "poison");
    to.home[home] = static_cast<std::uint16_t*>(expected[home].data());
  }
  device::scatter<<<device::kGrid, device::kThreads>>>(problem, heads, rank,
                                                       static_cast<const std::uint16_t*>(wide.data()), to);
  check(cudaDeviceSynchronize(), "expected destinations");
}

std::int64_t PushCase::mismatches() const {
  std::int64_t n = 0;
  for (std::size_t home = 0; home < homes.size(); ++home)
    n += device::differences(homes[home].data(), expected[home].data(), homes[home].bytes());
  return n;
}

std::int64_t PushCase::wide_mismatches(const void* other) const {
  return device::differences(wide.data(), other, wide.bytes());
}

double PushCase::worst_error() const {
  constexpr int kSamples = 4096;
  Memory error(kSamples * 8);
  device::sample_errors<<<kSamples / device::kThreads, device::kThreads>>>(
      shape, static_cast<const __nv_bfloat16*>(a.data()), static_cast<const __nv_bfloat16*>(b.data()),
      static_cast<const __nv_bfloat16*>(wide.data()), static_cast<double*>(error.data()), kSamples);
  std::vector<double> values(kSamples);
  check(cudaMemcpy(values.data(), error.data(), kSamples * 8, cudaMemcpyDeviceToHost), "samples");
  double worst = 0;
  for (const double value : values) worst = value <= worst ? worst : value;  // NaN becomes the worst, and stays
  return worst;
}

std::string PushCase::barrier_fault(std::uint32_t launches) const {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(barrier_words.bytes() / 4));
  check(cudaMemcpy(words.data(), barrier_words.data(), words.size() * 4, cudaMemcpyDeviceToHost), "flags");
  if (words[2] != 0) return "waited in vain for rank " + std::to_string(words[2] - 1);
  if (words[0] != 0) return "the arrival counter is " + std::to_string(words[0]) + " after the launch";
  if (words[1] != launches)
    return "epoch " + std::to_string(words[1]) + " after " + std::to_string(launches) + " launches";
  for (std::int64_t peer = 0; peer < problem.P; ++peer)
    if (words[static_cast<std::size_t>(3 + peer * problem.P + rank)] != launches)
      return "rank " + std::to_string(peer) + " was not told";
  return {};
}

}  // namespace megaup::cuda_tests
