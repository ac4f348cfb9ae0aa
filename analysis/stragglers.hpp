#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <megaup/core/record.hpp>

namespace megaup::analysis {

/// How one rank stands among the ranks, over all observations of an arm.
struct Straggler {
  std::int64_t rank = 0;
  double slowest_share = 0;  ///< share of the observations in which it was the slowest; equally slow ranks share one
  double lag = 0;            ///< mean over the observations of (its time - mean of the ranks) / mean of the ranks
};

/// Every rank of the arm, by rank; empty for a single rank, an absent arm or operation, or a value that is no time.
std::vector<Straggler> stragglers(const core::CellRecord& cell, std::string_view arm,
                                  std::span<const std::string_view> operations);

}  // namespace megaup::analysis
