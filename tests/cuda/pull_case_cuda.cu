#include <pull_case_cuda.cuh>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <cuda_bf16.h>

namespace megaup::pull_tests {

namespace device {

constexpr int kThreads = 256, kGrid = 132 * 8;

__host__ __device__ inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64's finaliser
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ inline __nv_bfloat16 uniform(std::uint64_t seed, std::int64_t i, float scale) {
  const float unit =
      static_cast<float>(mixed(seed + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull) >> 40) * 0x1p-24f;
  return __float2bfloat16(scale * (2 * unit - 1));
}

__global__ void fill_random(__nv_bfloat16* to, std::int64_t n, std::uint64_t seed, float scale) {
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * kThreads)
    to[i] = uniform(seed, i, scale);
}

/// Only rows of one rank's tokens.
__global__ void fill_rows(core::Problem problem, std::int64_t rank, std::int64_t width, __nv_bfloat16* to,
                          std::uint64_t seed) {
  const core::TokenLayout tokens{problem};
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < problem.M() * width;
       i += std::int64_t{gridDim.x} * kThreads)
    to[tokens.destination_row(rank, i / width) * width + i % width] = uniform(seed, i, 1.0f);
}

struct Tensors {
  const __nv_bfloat16* tensor[ops::PullMap::kMaxHomes];
};

/// Element (m, column) of A: from the one rank that has it, or the sum over its ranks in rank order in FP32, rounded
/// once.
__device__ inline __nv_bfloat16 element(const core::Problem& problem, const core::HeadLayout& heads,
                                        const Tensors& tensors, std::int64_t rank, std::int64_t m,
                                        std::int64_t column) {
  const core::HeadId head = heads.at(column / problem.D);
  const std::int64_t offset =
      core::head_offset(core::TokenLayout{problem}.destination_row(rank, m), heads.local_heads(head.kind),
                        heads.local_head(head), problem.D, column % problem.D);
  const std::int64_t first = heads.first_rank(head);
  const auto at = [&](std::int64_t holder) {
    return tensors.tensor[holder * ops::kPullKinds + static_cast<int>(head.kind)][offset];
  };
  if (heads.copies(head.kind) == 1) return at(first);
  float sum = __bfloat162float(at(first));
  for (std::int64_t copy = 1; copy < heads.copies(head.kind); ++copy) sum += __bfloat162float(at(first + copy));
  return __float2bfloat16_rn(sum);
}

__global__ void gather_a(core::Problem problem, core::HeadLayout heads, Tensors tensors, std::int64_t rank,
                         const std::int32_t* order, __nv_bfloat16* wide, __nv_bfloat16* ordered) {
  const std::int64_t K = heads.width();
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < problem.M() * K;
       i += std::int64_t{gridDim.x} * kThreads) {
    wide[i] = element(problem, heads, tensors, rank, i / K, i % K);
    ordered[i] = element(problem, heads, tensors, rank, i / K, order[i % K]);
  }
}

__global__ void gather_weight(ops::GemmShape shape, const std::int32_t* order, const __nv_bfloat16* from,
                              __nv_bfloat16* to) {
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x; i < shape.n * shape.k;
       i += std::int64_t{gridDim.x} * kThreads)
    to[i] = shape.weight_transposed ? from[i / shape.k * shape.k + order[i % shape.k]]
                                    : from[order[i / shape.n] * shape.n + i % shape.n];
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
    const double factor = __bfloat162float(shape.weight_transposed ? b[n * shape.k + k] : b[k * shape.n + n]);
    const double term = static_cast<double>(__bfloat162float(a[m * shape.k + k])) * factor;
    sum += term;
    magnitude += fabs(term);
  }
  const double bound = fabs(sum) * 0x1p-8 + static_cast<double>(shape.k) * 0x1p-24 * magnitude;
  error[i] = fabs(static_cast<double>(__bfloat162float(c[m * shape.n + n])) - sum) / bound;
}

}  // namespace device

namespace {

constexpr core::Head kKinds[] = {core::Head::query, core::Head::key, core::Head::value};

__nv_bfloat16* bf16(const Memory& memory) { return static_cast<__nv_bfloat16*>(memory.data()); }

/// The kernel's order of K, said once more: the shards of the own rank, the next and so on, each in the weight's order;
/// then each replicated KV head's key and value.
std::vector<std::int32_t> k_order(const core::HeadLayout& heads, std::int64_t rank) {
  std::vector<std::int32_t> order;
  const auto add = [&](std::int64_t j) {
    for (std::int64_t d = 0; d < heads.p.D; ++d) order.push_back(static_cast<std::int32_t>(j * heads.p.D + d));
  };
  for (std::int64_t i = 0; i < heads.p.P; ++i)
    for (std::int64_t j = 0; j < heads.heads(); ++j) {
      const core::HeadId head = heads.at(j);
      if (heads.copies(head.kind) == 1 && heads.first_rank(head) == (rank + i) % heads.p.P) add(j);
    }
  if (heads.columns == core::Columns::qkv && heads.p.kv_copies() > 1)
    for (std::int64_t k = 0; k < heads.p.Hk; ++k)
      for (const core::Head kind : {core::Head::key, core::Head::value}) add(heads.column({kind, k}));
  return order;
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
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
  device::fill_random<<<device::kGrid, device::kThreads>>>(bf16(memory), memory.bytes() / 2, device::mixed(seed),
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

PullWorld::PullWorld(const ops::Operation& op, const core::Problem& p, int other)
    : operation(op), problem(p), heads{p, op.columns}, elsewhere(other) {
  for (std::int64_t q = 0; q < p.P; ++q) {
    for (const auto kind : kKinds)
      tensors.emplace_back(p.B * p.S() * heads.local_heads(kind) * p.D * 2, q == 0 ? 0 : elsewhere);
    peer_words.emplace_back(ops::pull_peer_words(p) * 4);
  }
  reset_flags();
}

void PullWorld::randomise(std::uint64_t seed) const {
  for (const Memory& tensor : tensors) fill_uniform(tensor, ++seed, 1.0f);
}

void PullWorld::randomise_for(std::int64_t rank, std::uint64_t seed) const {
  for (const Memory& tensor : tensors) {
    tensor.fill(0xff);
    const std::int64_t width = tensor.bytes() / 2 / (problem.B * problem.S());
    if (width != 0)
      device::fill_rows<<<device::kGrid, device::kThreads>>>(problem, rank, width, bf16(tensor),
                                                             device::mixed(++seed * 77));
  }
  check(cudaGetLastError(), "random heads");
}

void PullWorld::reset_flags() const {
  for (const Memory& words : peer_words) words.fill(0);
}

void PullWorld::assume_arrived(std::int64_t rank) const {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(2 * problem.P), 0x3fffffff);
  words[static_cast<std::size_t>(rank)] = words[static_cast<std::size_t>(problem.P + rank)] = 0;
  check(cudaMemcpy(peer_words[static_cast<std::size_t>(rank)].data(), words.data(), words.size() * 4,
                   cudaMemcpyHostToDevice),
        "flags");
}

PullCase::PullCase(const PullWorld& w, std::int64_t r)
    : world(w),
      rank(r),
      shape(ops::gemm_shape(w.operation, w.problem)),
      weight(shape.n * shape.k * 2),
      c(shape.m * shape.n * 2),
      staging(ops::pull_staging_bytes(w.problem, w.operation.columns)),
      local_words(ops::pull_local_words(w.problem) * 4),
      wide(shape.m * shape.k * 2),
      ordered_a(wide.bytes()),
      ordered_weight(weight.bytes()),
      expected(c.bytes()),
      order(shape.k * 4) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "SM count");
  const auto columns = k_order(w.heads, r);
  if (static_cast<std::int64_t>(columns.size()) != shape.k) throw std::logic_error("the order of K misses columns");
  check(cudaMemcpy(order.data(), columns.data(), columns.size() * 4, cudaMemcpyHostToDevice), "order of K");
  reset_local();
}

void PullCase::randomise_weight(std::uint64_t seed) const { fill_uniform(weight, seed, 0.125f); }

void PullCase::poison() const {
  c.fill(0xff);
  staging.fill(0xff);
}

void PullCase::gather() const {
  device::Tensors tensors{};
  for (std::size_t home = 0; home < world.tensors.size(); ++home) tensors.tensor[home] = bf16(world.tensors[home]);
  const auto* columns = static_cast<const std::int32_t*>(order.data());
  device::gather_a<<<device::kGrid, device::kThreads>>>(world.problem, world.heads, tensors, rank, columns, bf16(wide),
                                                        bf16(ordered_a));
  device::gather_weight<<<device::kGrid, device::kThreads>>>(shape, columns, bf16(weight), bf16(ordered_weight));
  check(cudaGetLastError(), "oracle's A");
}

void PullCase::compute_expected(const ops::CompiledPull& kernel, int swizzle) const {
  expected.fill(0xee);
  ops::PullGemm ordered = gemm(swizzle);
  ordered.weight = ordered_weight.data();
  ordered.c = expected.data();
  kernel.plain(ordered, ordered_a.data())->run(nullptr);
  check(cudaDeviceSynchronize(), "plain GEMM");
}

std::int64_t PullCase::mismatches() const { return differences(c.data(), expected.data(), c.bytes()); }

double PullCase::worst_error() const {
  constexpr int kSamples = 4096;
  const Memory error(kSamples * 8);
  device::sample_errors<<<kSamples / device::kThreads, device::kThreads>>>(
      shape, bf16(wide), bf16(weight), bf16(c), static_cast<double*>(error.data()), kSamples);
  std::vector<double> values(kSamples);
  check(cudaMemcpy(values.data(), error.data(), kSamples * 8, cudaMemcpyDeviceToHost), "samples");
  double worst = 0;
  for (const double value : values) worst = value <= worst ? worst : value;  // NaN becomes the worst, and stays
  return worst;
}

std::string PullCase::fault(std::uint32_t launches) const {
  std::uint32_t local[4];
  check(cudaMemcpy(local, local_words.data(), sizeof local, cudaMemcpyDeviceToHost), "flags");
  if (local[2] != 0) return ops::pull_fault(local[2]);
  if (local[1] != 0) return "the count of movers is " + std::to_string(local[1]) + " after the launch";
  if (local[0] != launches)
    return "epoch " + std::to_string(local[0]) + " after " + std::to_string(launches) + " launches";
  const auto P = static_cast<std::size_t>(world.problem.P);
  for (std::size_t peer = 0; peer < P; ++peer) {
    std::vector<std::uint32_t> words(2 * P);
    check(cudaMemcpy(words.data(), world.peer_words[peer].data(), words.size() * 4, cudaMemcpyDeviceToHost), "flags");
    for (const std::size_t word : {static_cast<std::size_t>(rank), P + static_cast<std::size_t>(rank)})
      if (words[word] != launches) return "rank " + std::to_string(peer) + " was not told";
  }
  return {};
}

ops::PullGemm PullCase::gemm(int swizzle) const {
  return {.shape = shape,
          .weight = weight.data(),
          .weight_ld = shape.weight_transposed ? shape.k : shape.n,
          .c = c.data(),
          .c_ld = shape.n,
          .swizzle = swizzle,
          .sms = sms};
}

ops::PullHeads PullCase::pull_heads() const {
  ops::PullHeads out{};
  for (std::size_t home = 0; home < world.tensors.size(); ++home)
    if (world.tensors[home].bytes() != 0) out.base[home] = world.tensors[home].data();
  out.rows = world.problem.B * world.problem.S();
  for (const auto kind : kKinds) out.widths[static_cast<int>(kind)] = world.heads.local_heads(kind) * world.problem.D;
  out.staging = staging.data();
  return out;
}

ops::PullFlags PullCase::flags() const {
  ops::PullFlags out{
      .peers = {}, .local = static_cast<std::uint32_t*>(local_words.data()), .timeout_ns = 2'000'000'000};
  for (std::size_t peer = 0; peer < world.peer_words.size(); ++peer)
    out.peers[peer] = static_cast<std::uint32_t*>(world.peer_words[peer].data());
  return out;
}

ops::PullPlan PullCase::plan(ops::Regime regime) const {
  return ops::plan_pull(shape, core::TokenLayout{world.problem}.run_rows(), regime, sms);
}

}  // namespace megaup::pull_tests
