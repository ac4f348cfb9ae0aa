#pragma once

#include <cstdint>
#include <string_view>

namespace megaup::ops {

/// What limits the clock of a GPU. Back-to-back work runs into its power cap; with idle gaps between launches it does
/// not, and the ranking of the kernels differs.
enum class Regime : std::uint8_t { sustained, spaced };
std::string_view name(Regime value);

}  // namespace megaup::ops
