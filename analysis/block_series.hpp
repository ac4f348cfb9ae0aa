#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <megaup/core/record.hpp>

namespace megaup::analysis {

/// How the ranks of one observation become one number. The estimator takes the slowest rank; the mean shows how much of a difference comes
/// from one arm's ranks being more alike.
enum class AcrossRanks { maximum, mean };

/// One arm's time in every block, milliseconds: the sum over `operations` of the block medians. The operations of a block stay together, so
/// what they have in common (a slow minute) stays in the block and is not averaged away.
/// Nothing if the arm or an operation is missing, or a value is no finite positive time. Result [block].
std::optional<std::vector<double>> block_times_ms(const core::CellRecord& cell, std::string_view arm,
                                                  std::span<const std::string_view> operations, AcrossRanks across);

/// When each block of the arm ran: the mean over `operations` of `started`, seconds. Nothing if a start is unknown. Result [block].
std::optional<std::vector<double>> block_starts(const core::CellRecord& cell, std::string_view arm,
                                                std::span<const std::string_view> operations);

}  // namespace megaup::analysis
