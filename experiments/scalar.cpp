#include <megaup/experiments/scalar.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include <megaup/experiments/utf8.hpp>

namespace megaup::experiments {
namespace {

constexpr std::size_t kMaxNameCharacters = 200;
constexpr double kMaxSeconds = 30.0 * 24 * 3600;

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array<Unit, 6> kUnits{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
constexpr std::string_view kUnitNames = "ns, us, ms, s, min, h";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

/// Length of the integer that `text` starts with; 0 if it starts with none or with a leading zero.
std::size_t integer_length(std::string_view text) {
  const std::size_t n = digits(text);
  return n > 1 && text[0] == '0' ? 0 : n;
}

}  // namespace

std::size_t real_length(std::string_view text) {
  std::size_t n = integer_length(text);
  if (n == 0) return 0;
  if (n < text.size() && text[n] == '.') {
    const std::size_t fraction = digits(text.substr(n + 1));
    if (fraction == 0) return 0;
    n += 1 + fraction;
  }
  if (n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    const std::size_t sign = n + 1 < text.size() && (text[n + 1] == '+' || text[n + 1] == '-') ? 1 : 0;
    const std::size_t exponent = digits(text.substr(std::min(n + 1 + sign, text.size())));
    if (exponent == 0) return 0;
    n += 1 + sign + exponent;
  }
  return n;
}

Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = negative ? text.substr(1) : text;
  if (magnitude.empty() || integer_length(magnitude) != magnitude.size()) {
    if (digits(magnitude) == magnitude.size() && !magnitude.empty())
      return "a whole number without leading zeros (they mean octal elsewhere)";
    return "a whole number, digits only (no sign, point, exponent, underscore or colon)";
  }
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || value < least || value > most)
    return fmt::format("a whole number from {} to {}", least, most);
  return value;
}

Parsed<double> parse_duration(std::string_view text) {
  const std::size_t n = real_length(text);
  if (n == 0) return fmt::format("a number, a space and a unit ({}), for example 120 s", kUnitNames);
  const std::string_view number = text.substr(0, n);
  const std::string_view unit = text.substr(std::min(text.size(), text.find_first_not_of(' ', n)));
  if (unit.empty()) return fmt::format("a number with a unit ({}): write {} s for seconds", kUnitNames, number);
  const auto found = std::ranges::find(kUnits, unit, &Unit::name);
  if (found == kUnits.end()) return fmt::format("a number with one of the units {}", kUnitNames);
  if (text.substr(n) != fmt::format(" {}", unit))
    return fmt::format("a number, one space and a unit: write {} {}", number, unit);
  double value = 0;
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value);
  const double seconds = value * found->seconds;
  if (status != std::errc{} || !(seconds > 0) || seconds > kMaxSeconds) return "more than 0 s and at most 720 h";
  return seconds;
}

Parsed<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return "true or false";
}

core::Reason name_fault(std::string_view text) {
  if (text.empty()) return "a name of at least one character";
  if (utf8_length(text) > kMaxNameCharacters)
    return fmt::format("a name of at most {} characters (this one has {})", kMaxNameCharacters, utf8_length(text));
  if (text == "." || text == "..") return "a name other than . and .., which are folders";
  if (text.front() == ' ' || text.back() == ' ') return "a name without blanks at its ends";
  for (std::string_view rest = text; !rest.empty();) {
    const auto c = utf8_character(rest);
    if (!c || is_control(c->code)) return "a name without control characters (tab, line end, \\0 ...)";
    if (c->code == '/') return "a name without '/', which would make folders of it";
    rest.remove_prefix(c->bytes);
  }
  return {};
}

}  // namespace megaup::experiments
