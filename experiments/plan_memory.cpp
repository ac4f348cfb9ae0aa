#include <megaup/experiments/plan_memory.hpp>

#include <algorithm>

#include <megaup/experiments/timing.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::experiments {

/// As the runner does it: the operands of all operations live side by side, arms are prepared one at a time.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec) {
  std::int64_t operands = 0, workspace = 0;
  for (const auto& name : spec.operations) {
    const auto* operation = ops::find_operation(name);
    if (operation == nullptr) continue;  // a test's own
    operands += ops::Operands::bytes(*operation, problem);
    for (const auto& arm_name : spec.arms.all())
      if (const auto* arm = ops::find_arm(arm_name, operation->kind))
        workspace = std::max(workspace, arm->workspace_bytes(*operation, problem, "auto"));
  }
  return operands + workspace + (spec.measure.cache == Cache::cold ? CacheFlush::bytes() : 0);
}

}  // namespace megaup::experiments
