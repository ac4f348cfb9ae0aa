#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <megaup/core/error.hpp>

/// The one grammar of values in specs. Nothing here depends on the locale, and no text is ever read in two ways.
///   integer   0 | [1-9][0-9]*
///   real      integer ( . [0-9]+ )? ( [eE] [+-]? [0-9]+ )?
///   duration  real, one space, one of ns us ms s min h
///   boolean   true | false, not in quotes
namespace megaup::experiments {

/// A value, or what is wrong with the text: words that follow "must be ...".
template <class T>
using Parsed = std::variant<T, std::string>;

/// Length of the real number that the text starts with, 0 if it starts with none.
std::size_t real_length(std::string_view text);

/// An integer in [least, most].
Parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most);

/// A duration in seconds, more than 0 and at most 30 days.
Parsed<double> parse_duration(std::string_view text);

Parsed<bool> parse_boolean(std::string_view text);

/// Why the text cannot be a name, in the same words. A name has 1 to 200 characters without '/', control characters and outer blanks, and
/// is neither "." nor "..": it becomes part of file names and of paths inside HDF5 files.
core::Reason name_fault(std::string_view text);

}  // namespace megaup::experiments
