#include <megaup/ops/regime.hpp>

#include <fmt/format.h>

namespace megaup::ops {

std::string_view name(Regime value) { return value == Regime::sustained ? "sustained" : "spaced"; }

std::string text(const DeviceSetting& setting) {
  const bool hopper = setting.architecture == Architecture::sm_90a;
  return fmt::format("{} SMs{}{}, {}, peers {}", setting.sms, hopper ? "" : " of ",
                     hopper ? "" : name(setting.architecture), name(setting.regime),
                     setting.peers == Peers::linked ? "over a link" : "on the same device");
}

}  // namespace megaup::ops
