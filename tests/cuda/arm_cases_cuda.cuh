#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/random_input.hpp>

/// The cases of megaup_cuda_arms_check. Everything here is collective over a group whose ranks are threads or
/// processes: a rank finds what it finds by itself, and goes on as all do.
namespace megaup::cuda_tests {

/// What this rank found. Checks in which all ranks find the same are counted on rank 0 alone; refusals and what is left
/// out are the same on all ranks, by their reasons.
struct Findings {
  std::chrono::steady_clock::time_point end;  ///< no case begins later
  std::chrono::duration<double> patience{3};  ///< of kernels that wait for a peer
  std::int64_t checks = 0, failures = 0;
  std::map<std::string, std::int64_t> refusals = {}, left_out = {};

  void expect(bool right, const std::string& what);
};

/// The checks of all ranks; the same on each. Collective.
struct Totals {
  std::int64_t checks = 0, failures = 0;
};
Totals totals(comm::Communicator& group, const Findings& findings);

/// One arm of one operation on this rank.
struct Case {
  const ops::Operation& op;
  const ops::Arm& arm;
  core::Problem problem;
  std::int64_t padding = 0;

  std::string words() const;
};

struct Prepared {
  ops::Operands operands;
  std::unique_ptr<ops::PreparedOperation> operation;
  core::Device& device;

  Prepared(comm::Communicator& group, const Case& c, const Findings& findings);
};

/// Whether the case begins: there is time, and the arm can do it; what it refuses is counted by its words. The same
/// answer on all ranks.
bool begins(comm::Communicator& group, const Case& c, Findings& findings);

/// All ranks have seen this error when they prepared the arm: a refusal, if its exchange is of those that only a trial
/// tells (comm::Communicator::no_transport), else wrong.
void count_error(comm::Communicator& group, const Case& c, const comm::GroupError& error, Findings& findings);

/// What `prepare` makes for a case that has begun; nothing if it is refused, on all ranks.
template <class Prepare>
auto unless_refused(comm::Communicator& group, const Case& c, Findings& findings, const Prepare& prepare)
    -> decltype(prepare()) {
  try {
    return prepare();
  } catch (const comm::GroupError& error) {
    count_error(group, c, error, findings);
    return {};
  }
}

/// The case prepared, if it begins and is not refused. The same answer on all ranks.
std::unique_ptr<Prepared> prepared(comm::Communicator& group, const Case& c, Findings& findings);

/// Grouped-query heads, as many KV heads as query heads, and replicated KV heads; 64 and 128 features.
std::vector<core::Problem> problems(std::int64_t P);

/// All operations with their arms on devices; with the bounds if so wished.
template <class Visit>
void each_arm(const Visit& visit, bool bounds = false) {
  for (const ops::Operation* op : ops::operations())
    for (const ops::Arm* arm : ops::arms())
      if (arm->kind == op->kind && arm->place == ops::Place::cuda && (bounds || !arm->bound)) visit(*op, *arm);
}

/// The case through the gate.
void check_gate(comm::Communicator& group, const Case& c, Findings& findings);
/// What is wrong with this rank's result of the launch; asks no other rank.
std::string complaint(Prepared& prepared, const ops::InputKey& key);

// arm_gates_cuda.cu: what is refused, every layout, rows with gaps, and damage that the gate must see.
void check_refusals(comm::Communicator& group, Findings& findings);
void check_layouts(comm::Communicator& group, Findings& findings);
void check_padding(comm::Communicator& group, Findings& findings);
void check_self_test(comm::Communicator& group, Findings& findings);

// arm_launches_cuda.cu: launch after launch with late ranks, the same bits twice, captured graphs; several problems
// side by side; rank 0 alone, all arms and the bounds, so many launches.
void check_sequences(comm::Communicator& group, Findings& findings);
void check_side_by_side(comm::Communicator& group, Findings& findings);
void check_solo(comm::Communicator& group, const core::Problem& problem, int launches, Findings& findings);

// arm_memory_cuda.cu: what operands and arms allocate is what they announce. `share`: all ranks have one device.
void check_memory(comm::Communicator& group, bool share, Findings& findings);

}  // namespace megaup::cuda_tests
