#pragma once

#include <bit>
#include <cstdint>

#include <megaup/core/host_device.hpp>

namespace megaup::core {

/// Brain floating point: sign, 8 exponent bits, 7 fraction bits. Whole numbers are exact up to 256.
struct Bf16 {
  std::uint16_t bits = 0;

  /// Round to nearest, ties to even. NaN stays NaN (quiet); values beyond the largest finite number become infinite.
  MEGAUP_HD static constexpr Bf16 from_float(float value) {
    const auto u = std::bit_cast<std::uint32_t>(value);
    // The vectoriser needs both sides without a branch, so NaN is selected, not jumped to.
    const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
    const std::uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return {static_cast<std::uint16_t>(nan ? (u >> 16) | 0x40u : rounded)};
  }
  MEGAUP_HD constexpr float to_float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

  friend constexpr bool operator==(Bf16 a, Bf16 b) = default;  // bits, so NaN equals itself and -0 differs from 0
};
static_assert(sizeof(Bf16) == 2);

}  // namespace megaup::core
