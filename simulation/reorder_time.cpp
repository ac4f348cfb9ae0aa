#include <megaup/simulation/reorder_time.hpp>

#include <fmt/format.h>

namespace megaup::simulation {

Answer<Estimate> reorder_time(const Machine& machine, double bytes) {
  if (!machine.reorder)
    return Cannot{fmt::format("machine '{}' has no reorder rate, which pack and unpack need", machine.name)};
  const auto& [rate, launch] = *machine.reorder;
  return Estimate{launch.value + 2 * bytes / rate.value,
                  fmt::format("reorder at {:.4g} GB/s ({})", rate.value / 1e9, rate.source)};
}

}  // namespace megaup::simulation
