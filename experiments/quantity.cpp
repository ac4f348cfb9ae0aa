#include <megaup/experiments/quantity.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/text.hpp>

namespace megaup::experiments {
namespace {

struct Unit {
  std::string_view name;
  int exponent = 0;   ///< of ten
  double factor = 1;  ///< a power of two
};
constexpr std::array<Unit, 4> kTimes{{{"ns", -9}, {"us", -6}, {"ms", -3}, {"s"}}};
constexpr std::array<Unit, 3> kFlopRates{{{"GFLOP/s", 9}, {"TFLOP/s", 12}, {"PFLOP/s", 15}}};
constexpr std::array<Unit, 3> kByteRates{{{"MB/s", 6}, {"GB/s", 9}, {"TB/s", 12}}};
constexpr std::array<Unit, 4> kBytes{{{"B"}, {"KiB", 0, 0x1p10}, {"MiB", 0, 0x1p20}, {"GiB", 0, 0x1p30}}};

struct Units {
  std::span<const Unit> units;
  std::string_view example;
};

Units units_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::time: return {kTimes, "2.5 us"};
    case Dimension::flop_rate: return {kFlopRates, "780 TFLOP/s"};
    case Dimension::byte_rate: return {kByteRates, "378 GB/s"};
    case Dimension::bytes: break;
  }
  return {kBytes, "64 MiB"};
}

std::string names(std::span<const Unit> units) {
  std::vector<std::string_view> out;
  for (const Unit& unit : units) out.push_back(unit.name);
  return fmt::format("{}", fmt::join(out, ", "));
}

/// Length of the number, with its sign, that the text starts with; 0 if none.
std::size_t number_length(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t n = real_length(text.substr(sign));
  return n == 0 ? 0 : sign + n;
}

/// number * 10^exponent, rounded once. Not finite if it is too large.
double scaled(std::string_view number, int exponent) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  int own = 0;
  if (e < number.size()) {
    const std::size_t digits = e + (number[e + 1] == '+' ? 2 : 1);
    if (std::from_chars(number.data() + digits, number.data() + number.size(), own).ec != std::errc{}) return NAN;
  }
  const std::string text = fmt::format("{}e{}", number.substr(0, e), std::int64_t{own} + exponent);
  double value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{} ? value : NAN;
}

/// Shortest digits of a value as a plain decimal, after its point was moved by `exponent` places to the left.
std::string moved(double value, int exponent) {
  if (value == 0) return "0";
  std::array<char, 32> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): written by to_chars
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  int point = 0;  // digits before the point, less one
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, point);
  point -= exponent;
  const bool negative = text.starts_with('-');
  std::string digits(text.substr(negative ? 1 : 0, e - (negative ? 1 : 0)));
  std::erase(digits, '.');
  if (point < 0) digits.insert(0, static_cast<std::size_t>(-point), '0');
  const auto whole = static_cast<std::size_t>(std::max(point, 0)) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  if (digits.size() > whole) digits.insert(whole, 1, '.');
  return (negative ? "-" : "") + digits;
}

}  // namespace

Parsed<double> parse_real(std::string_view text) {
  if (number_length(text) != text.size() || text.empty()) return "a number, for example 1.05";
  const double value = scaled(text, 0);
  if (!std::isfinite(value)) return "a number that a double can hold";
  return value;
}

Parsed<double> parse_quantity(std::string_view text, Dimension dimension) {
  const auto [units, example] = units_of(dimension);
  const std::size_t n = number_length(text);
  if (n == 0) return fmt::format("a number, a space and a unit ({}), for example {}", names(units), example);
  const std::string_view number = text.substr(0, n);
  const std::string_view unit = text.substr(std::min(text.size(), text.find_first_not_of(' ', n)));
  if (unit.empty()) return fmt::format("a number with a unit ({}), for example {}", names(units), example);
  const auto found = std::ranges::find(units, unit, &Unit::name);
  if (found == units.end()) return fmt::format("a number with one of the units {}", names(units));
  if (text.substr(n) != fmt::format(" {}", unit))
    return fmt::format("a number, one space and a unit: write {} {}", number, unit);
  const double value = scaled(number, found->exponent) * found->factor;
  if (!std::isfinite(value)) return "a number that a double can hold";
  return value;
}

std::string quantity_text(double value, Dimension dimension) {
  const auto units = units_of(dimension).units;
  const Unit* best = &units.front();
  for (const Unit& unit : units)
    if (dimension == Dimension::bytes ? std::fmod(value, unit.factor) == 0 && std::abs(value) >= unit.factor
                                      : std::abs(value) >= scaled("1", unit.exponent))
      best = &unit;
  if (dimension == Dimension::bytes) return fmt::format("{} {}", moved(value / best->factor, 0), best->name);
  return fmt::format("{} {}", moved(value, best->exponent), best->name);
}

}  // namespace megaup::experiments
