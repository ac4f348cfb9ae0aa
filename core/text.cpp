#include <megaup/core/text.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace megaup::core {
namespace {

/// Damerau-Levenshtein distance between neighbours (optimal string alignment), in bytes.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

/// Length of the UTF-8 sequence at the start of `text`, 0 if it is none (overlong forms, surrogates and code points beyond U+10FFFF are none).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string utc(std::int64_t seconds_since_epoch) {
  const std::chrono::sys_seconds when{std::chrono::seconds(seconds_since_epoch)};
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(when - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count());
}

std::string nearest_name(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  std::optional<std::size_t> least;
  for (const auto name : names) {
    const auto longer = std::max(word.size(), name.size());
    const auto d = distance(word, name);
    if (d > std::max<std::size_t>(2, longer / 3) || d >= longer || (least && d >= *least)) continue;
    least = d;
    best = name;
  }
  return std::string(best);
}

std::string number(double value) {
  char text[32];  // the longest double needs 24
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

std::string utc_now() {
  return utc(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()).time_since_epoch().count());
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = static_cast<signed char>(bytes[0]) >= 0 ? 1 : sequence_length(bytes);
    if (n == 0) return false;
    bytes.remove_prefix(n);
  }
  return true;
}

std::string as_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    const auto n = sequence_length(bytes);
    text.append(n == 0 ? "\xef\xbf\xbd" : bytes.substr(0, n));
    bytes.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return text;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

}  // namespace megaup::core
