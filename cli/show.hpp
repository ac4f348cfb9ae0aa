#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <megaup/core/record.hpp>

namespace megaup::cli {

/// Prints the table of `megaup analyze` for these files on stdout.
void show_table(const std::vector<std::filesystem::path>& files);

/// One cell in a few words: "Delta +0.125 ms", or why it has none.
std::string delta_words(const core::CellRecord& cell);

}  // namespace megaup::cli
