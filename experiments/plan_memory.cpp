#include <megaup/experiments/plan_memory.hpp>

#include <algorithm>

#include <megaup/experiments/sequence.hpp>
#include <megaup/experiments/timing.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::experiments {
namespace {

std::int64_t workspace_bytes(const core::Problem& problem, std::string_view operation_name, std::string_view arm_name,
                             const GemmProviders& providers) {
  std::int64_t bytes = 0;
  for (const auto* operation : parts(operation_name)) {
    const auto known = providers.find(std::string(operation->name));
    const std::string_view provider = known == providers.end() ? "auto" : std::string_view(known->second);
    if (const auto* arm = ops::find_arm(arm_name, operation->kind))
      bytes += arm->workspace_bytes(*operation, problem, provider);
  }
  return bytes;
}

}  // namespace

/// As the runner does it: first the GEMM providers are chosen; then the operands of all operations live side by side, and
/// arms are prepared one at a time, or together when interleaved.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec, const GemmProviders& providers) {
  std::int64_t choice = 0, operands = 0, workspace = 0;
  for (const auto& name : spec.operations) {
    std::int64_t largest = 0, all = 0;
    for (const auto& arm : spec.arms.all()) {
      const std::int64_t bytes = workspace_bytes(problem, name, spec.arms.row(arm), providers);
      largest = std::max(largest, bytes);
      all += bytes;
    }
    workspace = std::max(workspace, spec.measure.schedule == Schedule::interleaved ? all : largest);
    if (name == kSequence) continue;  // works on the operands of the others
    for (const auto* operation : parts(name)) {
      choice = std::max(choice, ops::provider_choice_bytes(ops::gemm_shape(*operation, problem)));
      operands += ops::Operands::bytes(*operation, problem);
    }
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
