#pragma once

#include <cstddef>
#include <string>

#include <megaup/analysis/row.hpp>

namespace megaup::analysis {

/// One row as the JSON object that page.js draws, on one line. `file` is its place in Analysis::files. Where the page needs a number to draw
/// with, it is [value, text as shown]; elsewhere it is the text alone.
std::string page_row(const Row& row, std::size_t file);

/// Times of one operation as text: 4096 steps from the smallest to the largest, two digits of A-Z a-z 0-9 - _ each, in the order given.
std::string observation_text(const float* first, const float* last);

}  // namespace megaup::analysis
