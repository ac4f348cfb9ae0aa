#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace megaup::experiments {

/// One character of a text: its code point and how many bytes it takes.
struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

/// The character at the start of `text` (not empty), or nothing if the bytes are not UTF-8 (overlong forms and surrogates are not).
std::optional<Utf8Character> utf8_character(std::string_view text);

/// Characters in a valid text; each broken byte counts as one.
std::size_t utf8_length(std::string_view text);

/// C0 and C1 controls and DEL: they have no place in a spec, nor on a terminal.
constexpr bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

}  // namespace megaup::experiments
