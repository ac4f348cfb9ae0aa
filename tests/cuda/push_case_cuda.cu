#include <push_case_cuda.cuh>

namespace megaup::cuda_tests {

namespace device {

struct Destinations {
  std::uint16_t* home[ops::PushMap::kMaxHomes];
};

/// One thread an element, by the project's index maps; nothing of the push's tables.
__global__ void scatter(core::Problem problem, core::HeadLayout heads, std::int64_t rank, const std::uint16_t* wide,
                        Destinations to) {
  const core::TokenLayout tokens{problem};
  each_element(problem.M() * heads.width(), [&](std::int64_t i) {
    const std::int64_t m = i / heads.width(), column = i % heads.width();
    const core::HeadId head = heads.at(column / problem.D);
    const std::int64_t offset = core::head_offset(tokens.destination_row(rank, m), heads.local_heads(head.kind),
                                                  heads.local_head(head), problem.D, column % problem.D);
    for (std::int64_t copy = 0; copy < heads.copies(head.kind); ++copy)
      to.home[(heads.first_rank(head) + copy) * ops::kPushKinds + static_cast<int>(head.kind)][offset] = wide[i];
  });
}

}  // namespace device

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
  fill_uniform(a, seed, 1.0f);
  fill_uniform(b, seed + 1, 0.125f);
  fill_uniform(receive, seed + 2, 1.0f);
}

void PushCase::poison() {
  for (const Memory& home : homes) home.fill(kPoison);
}

void PushCase::compute_expected() {
  cublaslt()->run(nullptr);
  device::Destinations to{};
  for (std::size_t home = 0; home < expected.size(); ++home) {
    expected[home].fill(kPoison);
    to.home[home] = static_cast<std::uint16_t*>(expected[home].data());
  }
  device::scatter<<<device::kGrid, device::kThreads>>>(problem, heads, rank,
                                                       static_cast<const std::uint16_t*>(wide.data()), to);
  check(cudaDeviceSynchronize(), "expected destinations");
}

std::int64_t PushCase::mismatches() const {
  std::int64_t n = 0;
  for (std::size_t home = 0; home < homes.size(); ++home)
    n += differences(homes[home].data(), expected[home].data(), homes[home].bytes());
  return n;
}

std::int64_t PushCase::wide_mismatches(const void* other) const {
  return differences(wide.data(), other, wide.bytes());
}

std::string PushCase::barrier_fault(std::uint32_t launches) const {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(barrier_words.bytes() / 4));
  check(cudaMemcpy(words.data(), barrier_words.data(), words.size() * 4, cudaMemcpyDeviceToHost), "flags");
  if (words[2] == comm::device::kOutOfTurn) return "out of turn";
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
