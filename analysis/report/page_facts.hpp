#pragma once

#include <string>
#include <utility>
#include <vector>

#include <megaup/analysis/row.hpp>

namespace megaup::analysis {

/// What stands behind a row, in words: (name, sentence). Only what the row has.
std::vector<std::pair<std::string, std::string>> page_facts(const Row& row);

}  // namespace megaup::analysis
