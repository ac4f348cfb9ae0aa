#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <megaup/ops/fused_kernels.hpp>

namespace megaup::ops {

/// What limits the clock of a GPU. Back-to-back work runs into its power cap; with idle gaps between launches it does
/// not, and the ranking of the kernels differs.
enum class Regime : std::uint8_t { sustained, spaced };
std::string_view name(Regime value);

/// Where the peers' heads are: behind a link, or in the memory of this rank's device, which several ranks share or one has
/// alone (fabric emulated).
enum class Peers : std::uint8_t { linked, same_device };

/// What the planners of fused kernels know about the device: its multiprocessors that a launch may use, how it is timed,
/// where the peers are, and whose kernels it runs.
struct DeviceSetting {
  Regime regime = Regime::sustained;
  std::int64_t sms = 0;
  Peers peers = Peers::linked;
  Architecture architecture = Architecture::sm_90a;
};
/// "132 SMs, sustained, peers over a link"; of others than sm_90a "148 SMs of sm_100a, ..."
std::string text(const DeviceSetting& setting);

}  // namespace megaup::ops
