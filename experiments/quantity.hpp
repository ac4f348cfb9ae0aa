#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <megaup/experiments/scalar.hpp>

/// Figures of machine files: a real number of docs/specs.md with an optional minus, one space, a unit.
namespace megaup::experiments {

enum class Dimension : std::uint8_t {
  time,       ///< s: ns us ms s
  flop_rate,  ///< FLOP/s: GFLOP/s TFLOP/s PFLOP/s
  byte_rate,  ///< bytes/s: MB/s GB/s TB/s, powers of 1000
  bytes,      ///< B KiB MiB GiB, powers of 1024
};

/// The value in the SI base unit. Decimal units cost no digit: "521.34 us" is the double nearest to 521.34e-6.
Parsed<double> parse_quantity(std::string_view text, Dimension dimension);

/// A real number without unit, with an optional minus.
Parsed<double> parse_real(std::string_view text);

/// The shortest text that parse_quantity reads back as the same finite value, in the unit that leaves 1 to 999 before the point; bytes in
/// the largest unit of which they are a whole number.
std::string quantity_text(double value, Dimension dimension);

}  // namespace megaup::experiments
