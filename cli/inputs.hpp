#pragma once

#include <filesystem>
#include <vector>

namespace megaup::cli {

/// Both are there, and are one file whatever their names.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// --force replaces an old result, and never what this very command reads. Throws core::Error{usage} if the output is one
/// of the inputs; an empty output is standard output.
void protect_inputs(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output);

}  // namespace megaup::cli
