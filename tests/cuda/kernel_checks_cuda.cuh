#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <megaup/core/problem.hpp>
#include <megaup/ops/operation.hpp>
#include <megaup/ops/prepared_kernel_cuda.cuh>

/// What the checks of the push and of the pull kernels have in common.
namespace megaup::cuda_tests {

struct Tally {
  int checks = 0, failures = 0, refusals = 0;

  void expect(bool right, const std::string& what);
};

/// all: everything; small and tiny: fewer and smaller cases, for compute-sanitizer's memcheck and racecheck.
enum class CaseSet { all, small, tiny };

/// A check program: its one argument is the set. Exit: 0 all right, 1 something differs, 77 no suitable device.
int run_checks(int argc, char** argv, void (*checks)(CaseSet set, Tally& tally));

std::string in_words(const ops::Operation& operation, const core::Problem& problem, std::int64_t rank);

/// Query heads, KV heads, features of a head.
using Heads = std::array<std::int64_t, 3>;
/// All formats and orders of the activations and of the weight, on 2, 4 and 8 ranks, with all kinds of heads; hidden
/// size H. Fewer, and one hidden size of 128, in the small set.
std::vector<core::Problem> layout_problems(CaseSet set, std::int64_t H, std::span<const Heads> heads);

/// Captures one launch and replays it.
void replay_as_graph(const ops::PreparedKernel& kernel, int replays);

}  // namespace megaup::cuda_tests
