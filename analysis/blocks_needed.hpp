#pragma once

#include <cstdint>
#include <optional>

#include <megaup/analysis/interval.hpp>

namespace megaup::analysis {

/// Above this many blocks the answer is "not by repeating".
inline constexpr std::int64_t kMostBlocks = 10000;

/// How many blocks in all (an even number, half of each order) make the half-width of the interval smaller than `half_width`, if the spread
/// stays what it is: the smallest B above the present one with t(B - 2) * spread / sqrt(B) < half_width. Nothing above kMostBlocks, or if
/// half_width is not positive.
std::optional<std::int64_t> blocks_needed(const OrderedMean& estimate, double half_width, double confidence);

}  // namespace megaup::analysis
