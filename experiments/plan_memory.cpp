#include <megaup/experiments/plan_memory.hpp>

#include <algorithm>

#include <megaup/experiments/sequence.hpp>
#include <megaup/experiments/timing.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::experiments {
namespace {

std::int64_t workspace_bytes(const core::Problem& problem, std::string_view operation_name, std::string_view arm_name) {
  std::int64_t bytes = 0;
  for (const auto* operation : parts(operation_name))
    if (const auto* arm = ops::find_arm(arm_name, operation->kind)) bytes += arm->workspace_bytes(*operation, problem, "auto");
  return bytes;
}

}  // namespace

/// As the runner does it: the operands of all operations live side by side; arms are prepared one at a time, or together when interleaved.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec) {
  std::int64_t operands = 0, workspace = 0;
  for (const auto& name : spec.operations) {
    std::int64_t largest = 0, all = 0;
    for (const auto& arm : spec.arms.all()) {
      const std::int64_t bytes = workspace_bytes(problem, name, spec.arms.row(arm));
      largest = std::max(largest, bytes);
      all += bytes;
    }
    workspace = std::max(workspace, spec.measure.schedule == Schedule::interleaved ? all : largest);
    if (name == kSequence) continue;  // works on the operands of the others
    for (const auto* operation : parts(name)) operands += ops::Operands::bytes(*operation, problem);
  }
  return operands + workspace + (spec.measure.cache == Cache::cold ? CacheFlush::bytes() : 0);
}

}  // namespace megaup::experiments
