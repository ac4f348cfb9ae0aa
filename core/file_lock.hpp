#pragma once

#include <filesystem>

namespace megaup::core {

/// Whether HDF5 files are locked: not if the user switched it off with HDF5_USE_FILE_LOCKING (FALSE or 0), the variable that the HDF5
/// library itself obeys.
bool locking_enabled();

/// Whether another open of the file, of this process or of another, holds its lock (a reader's shared one or a writer's). Neither opens it
/// for writing nor keeps a lock. A file that cannot be opened, or a file system without locks, counts as not locked.
bool is_locked(const std::filesystem::path& path);

}  // namespace megaup::core
