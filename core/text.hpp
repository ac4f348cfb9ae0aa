#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace megaup::core {

/// The name that a mistyped word most likely meant, or "" when none is near: at most a third of the longer word's bytes (two at least, but
/// never all of them) have to be inserted, deleted, replaced or swapped with their neighbour. The first of equally near names wins.
std::string nearest_name(std::string_view word, std::span<const std::string_view> names);

/// The shortest text that reads back as the same number, with a point in every locale: 0.1, 1e+300, nan, -inf.
std::string number(double value);

/// Now, in UTC, as ISO 8601 to the second: 2026-11-29T12:00:00Z.
std::string utc_now();
/// The same for a moment given in seconds since 1970-01-01T00:00:00Z.
std::string utc(std::int64_t seconds_since_epoch);

/// The text with everything that is not UTF-8 replaced by U+FFFD, so that JSON, HTML and terminals can take it.
std::string as_utf8(std::string_view bytes);
bool is_utf8(std::string_view bytes);

/// The text for use inside a one-line message: control characters as \n, \t or \x1b, broken UTF-8 as in as_utf8.
std::string one_line(std::string_view text);

}  // namespace megaup::core
