#pragma once

#include <cstdint>
#include <filesystem>

namespace megaup::core {

/// Finds out, before anything is measured, whether `expected_bytes` can be written to `path` and beside it. Makes and removes one empty
/// file of its own in the folder and never touches `path`. Throws
///   Error{usage}        the path exists and overwrite is false, or is a folder
///   Error{environment}  the folder is missing or cannot be written, the file is locked by another process, or there is too little space
/// each with the path, what the system said (errno) and the mend.
void probe_output(const std::filesystem::path& path, bool overwrite, std::uint64_t expected_bytes);

}  // namespace megaup::core
