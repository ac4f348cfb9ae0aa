#include <megaup/experiments/plan_memory.hpp>

#include <algorithm>

#include <megaup/experiments/timing.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::experiments {

/// As the runner does it: first the GEMM providers are chosen; then the operands of all operations live side by side, and
/// arms are prepared one at a time.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec, const GemmProviders& providers) {
  std::int64_t choice = 0, operands = 0, workspace = 0;
  for (const auto& name : spec.operations) {
    const auto* operation = ops::find_operation(name);
    if (operation == nullptr) continue;  // a test's own
    choice = std::max(choice, ops::provider_choice_bytes(ops::gemm_shape(*operation, problem)));
    operands += ops::Operands::bytes(*operation, problem);
    const auto known = providers.find(name);
    const std::string_view provider = known == providers.end() ? "auto" : std::string_view(known->second);
    for (const auto& arm_name : spec.arms.all())
      if (const auto* arm = ops::find_arm(arm_name, operation->kind))
        workspace = std::max(workspace, arm->workspace_bytes(*operation, problem, provider));
  }
  return std::max(choice, operands + workspace + (spec.measure.cache == Cache::cold ? CacheFlush::bytes() : 0));
}

GemmProviders leanest_providers(const core::Problem& problem, const Spec& spec) {
  GemmProviders leanest;
  for (const auto& name : spec.operations) {
    const auto* operation = ops::find_operation(name);
    if (operation == nullptr) continue;
    std::int64_t least = 0;
    for (const auto* provider : ops::gemm_providers()) {
      if (provider->infeasible(ops::gemm_shape(*operation, problem))) continue;
      const std::int64_t bytes = ops::gemm_bytes(*operation, problem, provider->name);
      if (leanest.contains(name) && bytes >= least) continue;
      least = bytes;
      leanest[name] = provider->name;
    }
  }
  return leanest;
}

}  // namespace megaup::experiments
