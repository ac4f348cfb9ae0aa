#include <megaup/analysis/text.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace megaup::analysis {
namespace {

struct Character {
  char32_t point = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The character at the start of `text`. Overlong forms, surrogates and values beyond U+10FFFF are not valid.
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t point = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    point = (point << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[bytes] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {};
  return {point, bytes, true};
}

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [=](const Range& range) { return point >= range.first && point <= range.last; });
}

/// C0, DEL, C1, soft hyphen, zero-width and bidirectional controls, line separators, byte order mark, tags.
constexpr std::array<Range, 10> kHidden{{{0x00, 0x1F},
                                         {0x7F, 0x9F},
                                         {0xAD, 0xAD},
                                         {0x61C, 0x61C},
                                         {0x200B, 0x200F},
                                         {0x2028, 0x202E},
                                         {0x2060, 0x206F},
                                         {0xFEFF, 0xFEFF},
                                         {0xFFF9, 0xFFFB},
                                         {0xE0000, 0xE0FFF}}};
constexpr std::array<Range, 10> kWide{{{0x1100, 0x115F},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0xA4CF},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1F9FF},
                                       {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 4> kCombining{{{0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}}};

std::size_t width_of(const Character& character) {
  if (!character.valid || within(kCombining, character.point)) return character.valid ? 0 : 1;
  return within(kWide, character.point) ? 2 : 1;
}

/// Bytes at the start of `text` that fill at most `width` columns; at least one character.
std::size_t fitting(std::string_view text, std::size_t width) {
  std::size_t bytes = 0, columns = 0;
  while (bytes < text.size()) {
    const Character next = decode(text.substr(bytes));
    if (columns + width_of(next) > width && bytes > 0) break;
    columns += width_of(next);
    bytes += next.bytes;
  }
  return bytes;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character next = decode(text);
    if (!next.valid)
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (next.point == '\n')
      result += "\\n";
    else if (next.point == '\t')
      result += "\\t";
    else if (next.point < 0x80 && within(kHidden, next.point))
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned>(next.point));
    else if (within(kHidden, next.point))
      fmt::format_to(std::back_inserter(result), "\\u{{{:x}}}", static_cast<unsigned>(next.point));
    else
      result += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = decode(text);
    columns += width_of(next);
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    std::size_t cut = fitting(text, width);
    if (cut < text.size() && text[cut] != ' ')
      if (const std::size_t space = text.substr(0, cut).rfind(' '); space != std::string_view::npos && space > 0)
        cut = space;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace megaup::analysis
