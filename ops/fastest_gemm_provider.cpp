#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <random>
#include <vector>

#include <megaup/core/buffer.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/matrix_sink.hpp>
#include <megaup/ops/matrix_source.hpp>

namespace megaup::ops {

namespace {

constexpr double kMostFlop = 2e10;  // of one timed run: 0.1 s at 200 GFLOP/s
constexpr std::int64_t kTileRows = 2048, kPanelColumns = 2048, kFewestK = 512;
constexpr int kRuns = 3;
constexpr double kHopeless = 1.5;  // a provider whose first time is so much longer than the best is not run again

/// A GEMM that behaves like `g` and is over soon. What providers pack costs them 1/rows or 1/columns of the time, so a
/// whole tile is kept as long as there is one, and k is cut.
GemmShape slice(GemmShape g) {
  const auto flop_per_k = [&g] { return 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n); };
  g.m = std::min(g.m, kTileRows);
  if (flop_per_k() * static_cast<double>(g.k) > kMostFlop) g.n = std::min(g.n, kPanelColumns);
  g.k = std::min(g.k, std::max(kFewestK, static_cast<std::int64_t>(kMostFlop / flop_per_k())));
  return g;
}

core::Bf16Matrix random_matrix(core::Buffer& memory, std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  memory = core::Buffer(static_cast<std::size_t>(rows * columns) * sizeof(core::Bf16));
  const core::Bf16Matrix matrix{memory.as<core::Bf16>(), rows, columns, columns};
  std::mt19937_64 random(seed);
  // Sign, lowest exponent bit and fraction are random: +-[0.5, 2).
  for (std::int64_t i = 0; i < rows * columns; ++i)
    matrix.data[i].bits = static_cast<std::uint16_t>(0x3f00 | (random() & 0x80ff));
  return matrix;
}

struct Candidate {
  const GemmProvider* provider;
  std::vector<double> seconds;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::string fastest_gemm_provider(const GemmShape& shape, int threads) {
  const GemmShape g = slice(shape);
  core::Buffer a_memory, b_memory, c_memory;
  MatrixSource a(random_matrix(a_memory, g.m, g.k, 1));
  const core::ConstBf16Matrix b =
      g.weight_transposed ? random_matrix(b_memory, g.n, g.k, 2) : random_matrix(b_memory, g.k, g.n, 2);
  MatrixSink c(random_matrix(c_memory, g.m, g.n, 3));

  const auto seconds_of = [&](HostGemm& gemm) {
    const auto begin = std::chrono::steady_clock::now();
    gemm.run(a, b, c);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  // Anew for each run: one that widens the weight holds more than the operation itself, and all would stand together.
  const auto prepared = [&](const Candidate& candidate) {
    core::give_back_freed_memory();
    return prepare_host_gemm(candidate.provider->name, g, {}, threads);
  };
  std::vector<Candidate> candidates;
  double best = std::numeric_limits<double>::max();
  for (const GemmProvider* provider : gemm_providers()) {
    if (provider->infeasible(g)) continue;
    candidates.push_back({provider, {}});
    candidates.back().seconds = {seconds_of(*prepared(candidates.back()))};
    best = std::min(best, candidates.back().seconds[0]);
  }
  std::erase_if(candidates, [best](const Candidate& candidate) { return candidate.seconds[0] > kHopeless * best; });
  for (Candidate& candidate : candidates) candidate.seconds.clear();  // the first time is that of a cold library
  for (int run = 0; run < kRuns && candidates.size() > 1; ++run)
    for (Candidate& candidate : candidates) {
      const auto gemm = prepared(candidate);
      seconds_of(*gemm);  // warms up
      candidate.seconds.push_back(seconds_of(*gemm));
    }
  if (candidates.size() == 1) return std::string(candidates[0].provider->name);
  const auto fastest =
      std::ranges::min_element(candidates, {}, [](const Candidate& candidate) { return median(candidate.seconds); });
  return std::string(fastest->provider->name);
}

std::int64_t provider_choice_bytes(const GemmShape& shape) {
  const GemmShape g = slice(shape);
  const std::array whole{g.k};
  std::int64_t most = 0;
  for (const GemmProvider* provider : gemm_providers()) most = std::max(most, provider->workspace_bytes(g, whole));
  return (g.m * g.k + g.k * g.n + g.m * g.n) * core::kElementBytes + most;
}

}  // namespace megaup::ops
