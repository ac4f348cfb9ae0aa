#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace megaup::ops {

/// What limits the clock of a GPU. Back-to-back work runs into its power cap; with idle gaps between launches it does
/// not, and the ranking of the kernels differs.
enum class Regime : std::uint8_t { sustained, spaced };
std::string_view name(Regime value);

/// Where the peers' heads are: behind a link, or in the memory of this rank's device, which several ranks share or one has
/// alone (fabric emulated).
enum class Peers : std::uint8_t { linked, same_device };

/// What the planners of fused kernels know about the device: its multiprocessors that a launch may use, how it is timed,
/// and where the peers are.
struct DeviceSetting {
  Regime regime = Regime::sustained;
  std::int64_t sms = 0;
  Peers peers = Peers::linked;
};
/// "132 SMs, sustained, peers over a link"
std::string text(const DeviceSetting& setting);

}  // namespace megaup::ops
