#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <megaup/core/record.hpp>

/// Every stored time as a line of its own, for spreadsheets, R and pandas.
namespace megaup::analysis {

/// file,cell,model,cp,tokens_per_rank,source,fabric,status,operation,arm,block,order,observation,rank,latency_s
std::string long_csv_titles();

/// The lines of one cell, in the order in which the times are stored, handed to `write` a block at a time. Times that were not taken are
/// empty. A cell whose times could not be read (CellRecord::fault, or sizes that do not fit) gives no line; the reason is returned.
core::Reason long_csv_cell(const core::Record& header, const core::CellRecord& cell,
                           const std::function<void(std::string_view)>& write);

}  // namespace megaup::analysis
