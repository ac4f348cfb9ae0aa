#include <megaup/core/output_probe.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/core/file_lock.hpp>
#include <megaup/core/text.hpp>

namespace megaup::core {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(ErrorKind kind, const fs::path& path, const std::string& what) {
  throw Error(kind, fmt::format("{}: {}", one_line(path.string()), what));
}

/// Permission bits do not tell about read-only mounts, quotas and access lists; making a file does.
void probe_folder(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    fail(ErrorKind::environment, path,
         fmt::format("there is no folder '{}': make it first", one_line(folder.string())));
  std::string name = (folder / ".megaup-probe.XXXXXX").string();
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    fail(ErrorKind::environment, path,
         fmt::format("no file can be made in the folder '{}': {} (errno {}): choose a folder that can be written",
                     one_line(folder.string()), std::strerror(errno), errno));
  close(file);
  unlink(name.c_str());
}

void probe_existing(const fs::path& path, bool overwrite) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail(ErrorKind::usage, path, "is a folder: give the name of a file");
  if (!fs::exists(fs::symlink_status(path, ignored))) return;
  if (locking_enabled() && is_locked(path))
    fail(ErrorKind::environment, path,
         fmt::format("is locked: another process has it open ({}, errno {}): close it there, or choose another name. "
                     "If a file system left the "
                     "lock behind, set HDF5_USE_FILE_LOCKING=FALSE",
                     std::strerror(EWOULDBLOCK), EWOULDBLOCK));
  if (!overwrite) fail(ErrorKind::usage, path, "exists and is not overwritten: choose another name, or give --force");
}

void probe_space(const fs::path& path, const fs::path& folder, std::uint64_t expected_bytes) {
  constexpr std::uint64_t kMargin = 1 << 20;  // for what others write meanwhile
  const std::uint64_t needed = expected_bytes + kMargin;
  std::error_code unknown;
  const auto space = fs::space(folder, unknown);
  if (unknown || space.available >= needed) return;
  constexpr double kMiB = 1 << 20;
  fail(ErrorKind::environment, path,
       fmt::format("the folder '{}' has {:.1f} MiB free, and the result needs {:.1f} MiB: free space or "
                   "choose another folder",
                   one_line(folder.string()), static_cast<double>(space.available) / kMiB,
                   static_cast<double>(needed) / kMiB));
}

}  // namespace

void probe_output(const fs::path& path, bool overwrite, std::uint64_t expected_bytes) {
  if (path.filename().empty()) fail(ErrorKind::usage, path, "is not the name of a file");
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  probe_existing(path, overwrite);
  probe_folder(path, folder);
  probe_space(path, folder, expected_bytes);
}

}  // namespace megaup::core
