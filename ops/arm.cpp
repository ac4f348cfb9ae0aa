#include <megaup/ops/arm.hpp>

#include <fmt/format.h>

#include <megaup/core/device.hpp>
#include <megaup/ops/host_gemm.hpp>

namespace megaup::ops {

void PreparedOperation::assume_peers_arrived() {
  throw core::Error(core::ErrorKind::usage, "this arm cannot run without its peers");
}

const Arm* find_arm(std::string_view name, Kind kind, Place place) {
  for (const Arm* arm : arms())
    if (arm->kind == kind && arm->place == place && arm->name == name) return arm;
  return nullptr;
}

ArmLookup arms_at(Place place) {
  return [place](std::string_view name, Kind kind) { return find_arm(name, kind, place); };
}

core::Reason unsound(const core::Problem& problem, const Context& context) {
  if (auto why = core::refusal(problem)) return why;
  if (problem.P != context.communicator.size())
    return fmt::format("the problem has P = {} ranks, the communicator {}", problem.P, context.communicator.size());
  return {};
}

DeviceSetting device_setting(const Context& context) {
  const core::Device& device = *context.communicator.device();
  return {.regime = context.regime,
          .sms = context.alone ? device.whole_multiprocessors() : device.multiprocessors(),
          .peers = context.communicator.fabric() == "emulated" ? Peers::same_device : Peers::linked};
}

std::string choose_gemm_provider(const Operation& op, const core::Problem& problem, const Context& context) {
  if (context.gemm_provider != "auto") return context.gemm_provider;
  // One rank times while the others wait: with a core each they would disturb the answer, and all must agree anyway.
  std::string mine;
  if (context.communicator.rank() == 0) mine = fastest_gemm_provider(gemm_shape(op, problem), context.threads);
  return context.communicator.all_gather(std::string_view(mine)).front();
}

}  // namespace megaup::ops
