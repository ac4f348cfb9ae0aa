#include <link_duties_cuda.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

/// How long a group should run, and how often each of its variants.
struct Budget {
  std::string_view group;
  double ms;
  int rounds, most_rounds;
};
constexpr Budget kLook{"look", 330, 2, 20}, kKernels{"kernels", 800, 7, 60}, kArms{"arms", 400, 7, 60};
constexpr double kNear = 0.03;  // of the best share, in the first look
// Kernels without a note are kept, the fastest first, as long as the group still has kRounds rounds; but kFewest to
// kMost.
constexpr int kRounds = 15;
constexpr double kFewest = 3, kMost = 12;

/// Times the variants, of which the first is the bare GEMM, and prints them. Returns their median shares.
std::vector<double> time_group(const LinkCell& cell, const Duty& duty, const Budget& budget,
                               const std::vector<const Variant*>& variants, double bare_ms) {
  std::vector<ops::PreparedOperation*> operations;
  for (const Variant* variant : variants) operations.push_back(variant->operation.get());
  const double round_ms = static_cast<double>(variants.size()) * (1 + duty.rest) * bare_ms;
  const int rounds = static_cast<int>(std::clamp<double>(budget.ms / round_ms, budget.rounds, budget.most_rounds));
  const auto begin = std::chrono::steady_clock::now();
  const Timed timed = cell.timer.run(operations, {1, rounds, duty.rest * bare_ms});
  const double power = power_w(cell, begin);
  std::vector<double> medians;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Times share = shares(timed.operations[0].ms, timed.operations[i].ms);
    print(cell, {duty, budget.group, *variants[i], timed.operations[i], share, timed.clock_hz, power});
    medians.push_back(quantile(share, 0.5));
  }
  std::fflush(stdout);
  return medians;
}

/// The variants with a note, the first first, and the best of the others.
std::vector<const Variant*> kept(const std::vector<const Variant*>& variants, const std::vector<double>& share,
                                 double most) {
  const double best = *std::max_element(share.begin() + 1, share.end());
  std::vector<const Variant*> kept;
  std::vector<std::pair<double, const Variant*>> others;
  for (std::size_t i = 0; i < variants.size(); ++i)
    if (!variants[i]->note.empty())
      kept.push_back(variants[i]);
    else if (share[i] >= best - kNear)
      others.emplace_back(share[i], variants[i]);
  std::ranges::stable_sort(others, std::greater(), &std::pair<double, const Variant*>::first);
  for (std::size_t i = 0; i < others.size() && static_cast<double>(i) < most; ++i) kept.push_back(others[i].second);
  return kept;
}

}  // namespace

void time_interleaved(const LinkCell& cell, const Duty& duty, const Variant& bare, const std::vector<Variant>& kernels,
                      const std::vector<Variant>& natives) {
  ops::PreparedOperation* const alone[] = {bare.operation.get()};
  const double bare_ms = quantile(cell.timer.run(alone, {1, 5}).operations[0].ms, 0.5);
  std::vector<const Variant*> variants{&bare};
  for (const Variant& kernel : kernels) variants.push_back(&kernel);
  std::vector<double> share = time_group(cell, duty, kLook, variants, bare_ms);
  const double most = kKernels.ms / (kRounds * (1 + duty.rest) * bare_ms);
  variants = kept(variants, share, std::clamp(most, kFewest, kMost));
  share = time_group(cell, duty, kKernels, variants, bare_ms);

  const auto best = static_cast<std::size_t>(std::max_element(share.begin() + 1, share.end()) - share.begin());
  std::vector<const Variant*> arms{&bare};
  for (const Variant& native : natives) arms.push_back(&native);
  for (std::size_t i = 1; i < variants.size(); ++i)
    if (i == best || !variants[i]->note.empty()) arms.push_back(variants[i]);
  time_group(cell, duty, kArms, arms, bare_ms);
}

}  // namespace megaup::cuda_tests
