#pragma once

#include <span>
#include <string>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/problem.hpp>
#include <megaup/ops/arm.hpp>

/// The body of the operation tests, run with any communicator: in one process, and under a launcher.
namespace megaup::operation_tests {

/// All layout choices of a problem: {sbhd, bshd, thd} x {contiguous, dual_chunk} x {grouped, concatenated}.
std::vector<core::Problem> layouts_of(core::Problem base);

/// Small problems with P ranks: grouped-query heads, as many KV heads as query heads, and replicated KV heads.
std::vector<core::Problem> small_problems(std::int64_t P);

struct ArmChoice {
  std::string_view operation, arm;
};

/// Every operation with every arm that computes it (no bounds).
std::vector<ArmChoice> all_arms();

/// One line for messages.
std::string in_words(const core::Problem& problem);

/// GEMM providers that can multiply an operation's shape here. Tests name one: `auto` would time them all for each of a
/// thousand cases.
std::vector<std::string> providers(const ops::Operation& op, const core::Problem& problem);

/// How a case is run beside problem and arm.
struct CaseOptions {
  std::int64_t padding = 0;
  std::size_t provider = 0;  ///< index into providers(), taken around
  int threads = 1;           ///< cores of a rank
};

/// Prepares the arm and takes it through the gate. Collective. Empty = passed, else what failed, naming problem,
/// operation and arm.
std::string gate_failure(comm::Communicator& group, const core::Problem& problem, const ArmChoice& choice,
                         const CaseOptions& options = {});

}  // namespace megaup::operation_tests
