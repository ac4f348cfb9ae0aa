#pragma once

#include <filesystem>
#include <string>

namespace megaup::experiments {

/// The bytes of a YAML file; of one that is larger than read_yaml takes only as many as show that. Throws core::Error{usage} with path and
/// reason if it cannot be read.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace megaup::experiments
