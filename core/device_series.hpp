#pragma once

#include <array>
#include <vector>

namespace megaup::core {

/// What the device of each rank said of itself in each block: [operation, arm, block, rank], NaN where it said nothing.
/// Empty on hosts.
struct DeviceSeries {
  std::vector<double> sm_clock, memory_clock, power, temperature, throttle_reasons;
};

/// One dataset of a cell.
struct DeviceQuantity {
  const char *name, *units, *long_name;
  std::vector<double> DeviceSeries::*values;
};
inline constexpr std::array<DeviceQuantity, 5> kDeviceQuantities{{
    {"sm_clock", "Hz", "clock of the multiprocessors, in the middle of the block", &DeviceSeries::sm_clock},
    {"memory_clock", "Hz", "clock of the memory, in the middle of the block", &DeviceSeries::memory_clock},
    {"power", "W", "power of the device, as its management library reports it", &DeviceSeries::power},
    {"temperature", "degC", "temperature of the device", &DeviceSeries::temperature},
    {"throttle_reasons", "1", "NVML's bits of the reasons why clocks are not higher, 0: none",
     &DeviceSeries::throttle_reasons},
}};

}  // namespace megaup::core
