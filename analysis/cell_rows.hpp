#pragma once

#include <string>
#include <vector>

#include <megaup/analysis/row.hpp>
#include <megaup/core/record.hpp>

namespace megaup::analysis {

/// Rows of one cell, one for each baseline arm in the order of the file. The candidate is the cell's attribute
/// `candidate`, else kDefaultCandidate; baselines are all arms but the candidate and the bounds, kDefaultBaseline if
/// there is none. Both arms of a row always come from this one cell, so two protocols (cache, cadence, duty), two units
/// or two files never meet in one Delta. `header` gives file, source and fabric.
std::vector<Row> cell_rows(const core::Record& header, const core::CellRecord& cell, Depth depth = Depth::rows);

/// What makes two rows answers to the same question: shapes, layout choices, numbers of blocks and observations,
/// settings, arms, source and fabric. Settings are the cell's text and whole-number attributes, except what the run
/// found out or chose: sizes in bytes, the hash of the cell, how a cell failed, and whatever is named after an
/// operation.
std::string identity(const core::Record& header, const core::CellRecord& cell, const Row& row);

}  // namespace megaup::analysis
