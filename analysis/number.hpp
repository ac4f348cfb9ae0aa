#pragma once

#include <string>

/// How many digits are shown to people. JSON and CSV always carry the full value (core::number). No function here looks
/// at the locale.
///
/// The rule: a row's baseline is shown with four significant digits, and nothing else of that row gets more decimals
/// than that: a difference cannot be known more finely than what it is a difference of. A difference has three
/// significant digits at most.
namespace megaup::analysis {

/// Decimals that show `reference_ms` with four significant digits; 0 to 9.
int decimals_of(double reference_ms);

/// A time: fixed notation.
std::string time_text(double ms, int decimals);

/// A difference: always with its sign, also when the digits shown are all zero.
std::string difference_text(double ms, int decimals);

/// The size of a difference, without sign: "0.342 ms", or "< 0.001 ms" for one that is not zero but too small to show.
std::string size_text(double ms, int decimals);

}  // namespace megaup::analysis
