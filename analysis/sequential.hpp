#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <megaup/core/record.hpp>

namespace megaup::analysis {

/// Measuring until Delta is known well enough. Looking at the interval after every pair and stopping as soon as it is narrow would stop too
/// often by luck, and the 95 % would not hold. So the run looks at fixed numbers of pairs only, and the error of 5 % is shared out evenly
/// over them: each look uses the confidence 1 - 0.05 / looks. Then the chance that any of the intervals misses, and so also the one at which
/// the run stops, is at most 5 %, whatever the dependence between them (Boole's inequality).

/// Numbers of pairs at which the run looks: 2, 4, 8, ..., and max_pairs itself; ascending. max_pairs >= 2.
std::vector<std::int64_t> looks(std::int64_t max_pairs);

/// The confidence of every interval of a run with so many looks; 1 look is a run of fixed length.
double look_confidence(std::int64_t looks);

/// True when the run may end after these blocks: their number is one of the looks and the half-width of the interval of their mean is at most
/// `half_width`, or max_pairs is reached. differences and order [block] as in ordered_mean.
bool may_stop(std::span<const double> differences, std::span<const std::uint8_t> order, double half_width,
              std::int64_t max_pairs);

/// The same for a cell that is being measured: true when all its rows may end. half_width in milliseconds, of Delta.
bool may_stop(const core::CellRecord& cell, double half_width, std::int64_t max_pairs);

}  // namespace megaup::analysis
