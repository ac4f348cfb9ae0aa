#include <pull_case_cuda.cuh>

#include <stdexcept>

namespace megaup::cuda_tests {

namespace device {

/// Only rows of one rank's tokens.
__global__ void fill_rows(core::Problem problem, std::int64_t rank, std::int64_t width, __nv_bfloat16* to,
                          std::uint64_t seed) {
  const core::TokenLayout tokens{problem};
  each_element(problem.M() * width, [&](std::int64_t i) {
    to[tokens.destination_row(rank, i / width) * width + i % width] = uniform(seed, i, 1.0f);
  });
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
  each_element(problem.M() * K, [&](std::int64_t i) {
    wide[i] = element(problem, heads, tensors, rank, i / K, i % K);
    ordered[i] = element(problem, heads, tensors, rank, i / K, order[i % K]);
  });
}

__global__ void gather_weight(ops::GemmShape shape, const std::int32_t* order, const __nv_bfloat16* from,
                              __nv_bfloat16* to) {
  each_element(shape.n * shape.k, [&](std::int64_t i) {
    to[i] = shape.weight_transposed ? from[i / shape.k * shape.k + order[i % shape.k]]
                                    : from[order[i / shape.n] * shape.n + i % shape.n];
  });
}

}  // namespace device

namespace {

constexpr core::Head kKinds[] = {core::Head::query, core::Head::key, core::Head::value};

/// The kernel's order of K, said once more: the shards of the first rank, the next and so on, each in the weight's
/// order; then each replicated KV head's key and value.
std::vector<std::int32_t> k_order(const core::HeadLayout& heads, std::int64_t first) {
  std::vector<std::int32_t> order;
  const auto add = [&](std::int64_t j) {
    for (std::int64_t d = 0; d < heads.p.D; ++d) order.push_back(static_cast<std::int32_t>(j * heads.p.D + d));
  };
  for (std::int64_t i = 0; i < heads.p.P; ++i)
    for (std::int64_t j = 0; j < heads.heads(); ++j) {
      const core::HeadId head = heads.at(j);
      if (heads.copies(head.kind) == 1 && heads.first_rank(head) == (first + i) % heads.p.P) add(j);
    }
  if (heads.columns == core::Columns::qkv && heads.p.kv_copies() > 1)
    for (std::int64_t k = 0; k < heads.p.Hk; ++k)
      for (const core::Head kind : {core::Head::key, core::Head::value}) add(heads.column({kind, k}));
  return order;
}

}  // namespace

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
    tensor.fill(kPoison);
    const std::int64_t width = tensor.bytes() / 2 / (problem.B * problem.S());
    if (width != 0)
      device::fill_rows<<<device::kGrid, device::kThreads>>>(problem, rank, width, tensor.bf16(),
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

PullCase::PullCase(const PullWorld& w, std::int64_t r, ops::ShardOrder s)
    : world(w),
      rank(r),
      shards(s),
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
  const auto columns = k_order(w.heads, s == ops::ShardOrder::own_first ? r : 0);
  if (static_cast<std::int64_t>(columns.size()) != shape.k) throw std::logic_error("the order of K misses columns");
  check(cudaMemcpy(order.data(), columns.data(), columns.size() * 4, cudaMemcpyHostToDevice), "order of K");
  reset_local();
}

void PullCase::randomise_weight(std::uint64_t seed) const { fill_uniform(weight, seed, 0.125f); }

void PullCase::poison() const {
  c.fill(kPoison);
  staging.fill(kPoison);
}

void PullCase::gather() const {
  device::Tensors tensors{};
  for (std::size_t home = 0; home < world.tensors.size(); ++home) tensors.tensor[home] = world.tensors[home].bf16();
  const auto* columns = static_cast<const std::int32_t*>(order.data());
  device::gather_a<<<device::kGrid, device::kThreads>>>(world.problem, world.heads, tensors, rank, columns, wide.bf16(),
                                                        ordered_a.bf16());
  device::gather_weight<<<device::kGrid, device::kThreads>>>(shape, columns, weight.bf16(), ordered_weight.bf16());
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
  return ops::plan_pull(shape, core::TokenLayout{world.problem}.run_rows(),
                        {.regime = regime, .sms = sms, .architecture = current_architecture()});
}

}  // namespace megaup::cuda_tests
