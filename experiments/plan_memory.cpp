#include <megaup/experiments/plan_memory.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <megaup/experiments/sequence.hpp>
#include <megaup/experiments/timing.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::experiments {
namespace {

constexpr std::int64_t kDeviceFlushBytes = 256LL << 20;  // twice the cache of today's GPUs, and more
/// What a context, the code of all kernels and the library of the GEMM take of a device.
constexpr std::int64_t kDeviceOwnBytes = 3LL << 30;

std::int64_t workspace_bytes(const core::Problem& problem, std::string_view operation_name, std::string_view arm_name,
                             const GemmProviders& providers, ops::Place place) {
  std::int64_t bytes = 0;
  for (const auto* operation : parts(operation_name)) {
    const auto known = providers.find(std::string(operation->name));
    const std::string_view provider = known == providers.end() ? "auto" : std::string_view(known->second);
    if (const auto* arm = ops::find_arm(arm_name, operation->kind, place))
      bytes += arm->workspace_bytes(*operation, problem, provider);
  }
  return bytes;
}

}  // namespace

/// As the runner does it: first the GEMM providers are chosen; then the operands of all operations live side by side, and
/// arms are prepared one at a time, or together when interleaved.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec, const GemmProviders& providers) {
  const bool on_device = spec.backend.device == DeviceKind::cuda;
  const auto place = on_device ? ops::Place::cuda : ops::Place::host;
  std::int64_t choice = 0, operands = 0, workspace = 0;
  for (const auto& name : spec.operations) {
    std::int64_t largest = 0, all = 0;
    for (const auto& arm : spec.arms.all()) {
      const std::int64_t bytes = workspace_bytes(problem, name, spec.arms.row(arm), providers, place);
      largest = std::max(largest, bytes);
      all += bytes;
    }
    workspace = std::max(workspace, spec.measure.schedule == Schedule::interleaved ? all : largest);
    if (name == kSequence) continue;  // works on the operands of the others
    for (const auto* operation : parts(name)) {
      if (!on_device) choice = std::max(choice, ops::provider_choice_bytes(ops::gemm_shape(*operation, problem)));
      operands += ops::Operands::bytes(*operation, problem);
    }
  }
  const std::int64_t flush = on_device ? kDeviceFlushBytes : CacheFlush::bytes();
  return std::max(choice, operands + workspace + (spec.measure.cache == Cache::cold ? flush : 0));
}

GemmProviders leanest_providers(const core::Problem& problem, const Spec& spec) {
  GemmProviders leanest;
  if (spec.backend.device == DeviceKind::cuda) return leanest;  // there is one
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

std::string device_refusal(const core::Problem& problem, const Spec& spec, std::int64_t rank_bytes,
                           std::int64_t device_bytes) {
  if (spec.backend.device != DeviceKind::cuda || device_bytes == 0) return {};
  const std::int64_t ranks = spec.backend.share_device ? problem.P : 1;
  if (ranks * rank_bytes + kDeviceOwnBytes <= device_bytes) return {};
  constexpr double kGiB = 1 << 30;
  return fmt::format(
      "{} of {:.1f} GiB and {:.0f} GiB for the device itself do not fit into its {:.1f} GiB: choose fewer "
      "tokens_per_rank{}",
      ranks == 1 ? "a rank" : fmt::format("{} ranks", ranks), static_cast<double>(rank_bytes) / kGiB,
      static_cast<double>(kDeviceOwnBytes) / kGiB, static_cast<double>(device_bytes) / kGiB,
      ranks == 1 ? ", or fewer operations" : ", a lower cp, or fewer operations");
}

}  // namespace megaup::experiments
