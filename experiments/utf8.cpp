#include <megaup/experiments/utf8.hpp>

namespace megaup::experiments {

std::optional<Utf8Character> utf8_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return Utf8Character{first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return Utf8Character{code, bytes};
}

std::size_t utf8_length(std::string_view text) {
  std::size_t n = 0;
  while (!text.empty()) {
    const auto c = utf8_character(text);
    text.remove_prefix(c ? c->bytes : 1);
    ++n;
  }
  return n;
}

}  // namespace megaup::experiments
