#include <megaup/analysis/number.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace megaup::analysis {
namespace {

int decimals_for(double value, int significant) {
  const double size = std::abs(value);
  if (!(size > 0) || !std::isfinite(size)) return 0;
  return std::clamp(significant - 1 - static_cast<int>(std::floor(std::log10(size))), 0, 9);
}

/// Three significant digits, but never more decimals than the row has.
int difference_decimals(double ms, int decimals) {
  return ms == 0 ? decimals : std::min(decimals, decimals_for(ms, 3));
}

}  // namespace

int decimals_of(double reference_ms) { return decimals_for(reference_ms, 4); }

std::string time_text(double ms, int decimals) { return fmt::format("{:.{}f}", ms, decimals); }

std::string difference_text(double ms, int decimals) {
  return fmt::format("{:+.{}f}", ms, difference_decimals(ms, decimals));
}

std::string size_text(double ms, int decimals) {
  const double size = std::abs(ms);
  const int shown = difference_decimals(size, decimals);
  const double smallest = std::pow(10.0, -shown);
  if (size > 0 && size < 0.5 * smallest) return fmt::format("< {:.{}f} ms", smallest, shown);
  return fmt::format("{:.{}f} ms", size, shown);
}

}  // namespace megaup::analysis
