#pragma once

#include <megaup/analysis/analysis.hpp>
#include <megaup/analysis/grid.hpp>

/// The two tables of an analysis, with numbers rounded for people (number.hpp). Columns that would say the same on
/// every row are left out, but for the fabric, which is a label that every number carries.
namespace megaup::analysis {

/// One line a row: model, CP, M, both times, Delta, and the budget, or what stands in its place.
Grid headline(const Analysis& analysis);

/// One line for each operation that is whole: both times, their difference, and the bounds if any row has them.
Grid breakdown(const Analysis& analysis);

/// "0.342 ms", "none: fused costs 0.200 ms", "incomplete: reversed missing"; with the marks of the row's warnings.
std::string budget_text(const Row& row);

}  // namespace megaup::analysis
