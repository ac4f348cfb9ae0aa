#pragma once

#include <filesystem>
#include <string_view>

namespace megaup::core {

/// Writes a whole file or nothing: temporary name in the same folder, fsync, the final name in one step, fsync of the folder. With
/// overwrite = false an existing path is refused and untouched, also when two processes write the same path at once: one wins whole.
/// Throws Error{usage} (the path exists) or Error{environment} (with path and errno: disk full, no permission); the temporary file is
/// removed then, and an earlier file of that name is as it was.
void write_file(const std::filesystem::path& path, std::string_view bytes, bool overwrite);

}  // namespace megaup::core
