#include <megaup/core/output_probe.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>
#include <megaup/core/file_lock.hpp>

using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "megaup-probe.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
};

/// The lock that an HDF5 writer (exclusive) or reader (shared) holds.
struct Lock {
  int file;
  Lock(const fs::path& path, int kind) : file(open(path.c_str(), O_RDWR)) { REQUIRE(flock(file, kind | LOCK_NB) == 0); }
  ~Lock() { close(file); }
};

/// Restores the variable at the end.
struct Locking {
  explicit Locking(const char* value) { setenv("HDF5_USE_FILE_LOCKING", value, 1); }
  ~Locking() { unsetenv("HDF5_USE_FILE_LOCKING"); }
};

template <class Call>
std::string message(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

std::string existing_file(const fs::path& path) {
  std::ofstream(path) << "precious";
  return path.string();
}

}  // namespace

TEST_CASE("a new name in a folder that can be written passes and leaves nothing") {
  const Folder folder;
  probe_output(folder.path / "out.h5", false, 1000);
  probe_output(folder.path / "out.h5", true, 1000);
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("a name without a folder means the current one") {
  const Folder folder;
  const auto before = fs::current_path();
  fs::current_path(folder.path);
  CHECK_NOTHROW(probe_output("out.h5", false, 1000));
  fs::current_path(before);
}

TEST_CASE("an existing file is refused without overwrite, and never touched") {
  const Folder folder;
  const fs::path path = existing_file(folder.path / "out.h5");
  const auto time = fs::last_write_time(path);
  CHECK_THAT(message(ErrorKind::usage, [&] { probe_output(path, false, 1000); }),
             ContainsSubstring("out.h5: exists") && ContainsSubstring("--force"));
  CHECK_NOTHROW(probe_output(path, true, 1000));
  CHECK(fs::file_size(path) == 8);
  CHECK(fs::last_write_time(path) == time);
}

TEST_CASE("a file that another open has locked is refused with path, errno and the variable of HDF5") {
  const Folder folder;
  const fs::path path = existing_file(folder.path / "out.h5");
  for (const int kind : {LOCK_EX, LOCK_SH}) {
    const Lock lock(path, kind);
    for (const bool overwrite : {false, true}) {
      const auto text = message(ErrorKind::environment, [&] { probe_output(path, overwrite, 1000); });
      CHECK_THAT(text, ContainsSubstring(path.string()) && ContainsSubstring("locked") &&
                           ContainsSubstring("errno 11") && ContainsSubstring("HDF5_USE_FILE_LOCKING"));
    }
  }
  CHECK_FALSE(is_locked(path));  // neither the locks nor the probes are left
  CHECK_NOTHROW(probe_output(path, true, 1000));
}

TEST_CASE("HDF5_USE_FILE_LOCKING=FALSE switches the lock check off, other words do not") {
  const Folder folder;
  const fs::path path = existing_file(folder.path / "out.h5");
  const Lock lock(path, LOCK_EX);
  for (const auto* word : {"FALSE", "0"}) {
    const Locking setting(word);
    CHECK_NOTHROW(probe_output(path, true, 1000));
  }
  for (const auto* word : {"TRUE", "BEST_EFFORT", "1"}) {
    const Locking setting(word);
    CHECK_THROWS_AS(probe_output(path, true, 1000), Error);
  }
}

TEST_CASE("a missing folder, a folder as file and no name are refused") {
  const Folder folder;
  CHECK_THAT(message(ErrorKind::environment, [&] { probe_output(folder.path / "no" / "out.h5", false, 1000); }),
             ContainsSubstring("there is no folder"));
  CHECK_THAT(message(ErrorKind::usage, [&] { probe_output(folder.path, true, 1000); }),
             ContainsSubstring("is a folder"));
  CHECK_THAT(message(ErrorKind::usage, [&] { probe_output(folder.path / "", true, 1000); }),
             ContainsSubstring("is a folder") || ContainsSubstring("not the name"));
  existing_file(folder.path / "file");
  CHECK_THAT(message(ErrorKind::environment, [&] { probe_output(folder.path / "file" / "out.h5", false, 1000); }),
             ContainsSubstring("there is no folder"));
}

TEST_CASE("a folder that cannot be written is refused with errno") {
  if (geteuid() == 0) {
    // Root may write anywhere but in the kernel's own file system.
    CHECK_THAT(message(ErrorKind::environment, [] { probe_output("/proc/out.h5", false, 1000); }),
               ContainsSubstring("no file can be made") && ContainsSubstring("errno"));
    return;
  }
  const Folder folder;
  fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec);
  CHECK_THAT(message(ErrorKind::environment, [&] { probe_output(folder.path / "out.h5", false, 1000); }),
             ContainsSubstring("Permission denied (errno 13)"));
  fs::permissions(folder.path, fs::perms::owner_all);
}

TEST_CASE("more than the disk has is refused with both sizes") {
  const Folder folder;
  CHECK_THAT(
      message(ErrorKind::environment, [&] { probe_output(folder.path / "out.h5", false, std::uint64_t{1} << 60); }),
      ContainsSubstring("MiB free") && ContainsSubstring("1099511627777.0 MiB"));
}
