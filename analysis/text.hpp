#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Text from a file, made harmless and laid out. No function here looks at the locale: text is UTF-8.
namespace megaup::analysis {

/// The same text with everything escaped that a terminal could obey or that hides or reorders text: control characters
/// ("\n", "\x1b"), bytes that are not UTF-8 ("\xff"), zero-width and bidirectional controls ("\u{202e}").
std::string printable(std::string_view text);

/// Columns on a terminal: East Asian wide characters take two, combining marks none.
std::size_t display_width(std::string_view text);

/// Lines of at most `width` columns, broken at spaces, and inside a word only if it is longer than a line. At least one
/// line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace megaup::analysis
