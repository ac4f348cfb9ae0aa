#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/core/record.hpp>

/// Why a cell, or one comparison in it, has no Delta.
namespace megaup::analysis {

struct Shortfall {
  std::string status;  ///< incomplete | invalid | the cell's own status
  std::string reason;  ///< "reversed missing", "NaN at out_fwd, fused, block 0, observation 19, rank 0", ...
};

/// What rules out every comparison of the cell: a fault found by the reader, a status other than measured (with the
/// stored reason), sizes that do not fit, a name twice, an unknown order, an order without blocks, a pair that is not
/// whole. Nothing if none does.
std::optional<Shortfall> cell_shortfall(const core::CellRecord& cell);

/// What rules out comparing these two arms in a cell without cell_shortfall: an arm or one of kOperations missing, NaN
/// (not taken), infinite times, times that are not positive. The first one in the order of the file is named. Nothing
/// if none does.
std::optional<Shortfall> pair_shortfall(const core::CellRecord& cell, std::string_view baseline,
                                        std::string_view candidate);

/// Position of a name on an axis.
std::optional<std::size_t> position(const std::vector<std::string>& names, std::string_view name);

}  // namespace megaup::analysis
