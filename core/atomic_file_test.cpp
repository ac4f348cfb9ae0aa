#include <megaup/core/atomic_file.hpp>

#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>
#include <megaup/core/output_probe.hpp>

using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "megaup-file.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {})); }
};

/// A file system of 64 KiB, where root may make one.
struct SmallDisk {
  Folder folder;
  std::string why_not;
  SmallDisk() {
    if (mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=64k") != 0)
      why_not = std::string("a small file system cannot be mounted: ") + std::strerror(errno);
  }
  ~SmallDisk() {
    if (why_not.empty()) umount2(folder.path.c_str(), MNT_DETACH);
  }
};

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

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

}  // namespace

TEST_CASE("a file appears whole, readable as the user's other files, and alone in its folder") {
  const Folder folder;
  const auto path = folder.path / "out.bin";
  const std::string bytes("a\0b\n", 4);
  const mode_t mask = umask(0027);
  write_file(path, bytes, false);
  umask(mask);
  CHECK(bytes_of(path) == bytes);
  CHECK((fs::status(path).permissions() & fs::perms::mask) == fs::perms(0640));
  CHECK(folder.files() == 1);
}

TEST_CASE("an existing file is kept, or replaced in one step on request") {
  const Folder folder;
  const auto path = folder.path / "out.bin";
  write_file(path, "first", false);
  std::ifstream reader(path);  // holds the first file open
  CHECK_THAT(message(ErrorKind::usage, [&] { write_file(path, "second", false); }),
             ContainsSubstring("out.bin: exists") && ContainsSubstring("--force"));
  CHECK(bytes_of(path) == "first");
  write_file(path, "second", true);
  CHECK(bytes_of(path) == "second");
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) ==
        "first");  // whoever reads goes on with what was there
  CHECK(folder.files() == 1);
}

TEST_CASE("of several writers of one new file exactly one wins, whole") {
  const Folder folder;
  for (int round = 0; round < 20; ++round) {
    const auto path = folder.path / std::to_string(round);
    std::atomic<int> n_won = 0, n_refused = 0;
    std::vector<std::thread> writers;
    for (char letter : {'a', 'b', 'c'})
      writers.emplace_back([&, letter] {
        try {
          write_file(path, std::string(100000, letter), false);
          ++n_won;
        } catch (const Error&) {
          ++n_refused;
        }
      });
    for (auto& writer : writers) writer.join();
    CHECK(n_won == 1);
    CHECK(n_refused == 2);
    const auto bytes = bytes_of(path);
    CHECK(bytes == std::string(100000, bytes.at(0)));
  }
  CHECK(folder.files() == 20);
}

TEST_CASE("a folder that is missing is an error with path and errno") {
  const Folder folder;
  CHECK_THAT(message(ErrorKind::environment, [&] { write_file(folder.path / "no" / "out.bin", "x", false); }),
             ContainsSubstring("out.bin") && ContainsSubstring("No such file or directory (errno 2)"));
}

TEST_CASE("a folder in place of the file is an error, and stays") {
  const Folder folder;
  fs::create_directory(folder.path / "out");
  CHECK_THAT(message(ErrorKind::environment, [&] { write_file(folder.path / "out", "x", true); }),
             ContainsSubstring("Is a directory"));
  CHECK(folder.files() == 1);
}

TEST_CASE("a full disk leaves nothing behind and the earlier file as it was") {
  const SmallDisk disk;
  if (!disk.why_not.empty()) SKIP(disk.why_not);
  const auto path = disk.folder.path / "out.bin";
  write_file(path, "earlier", false);
  for (const bool overwrite : {true, false}) {
    const auto target = overwrite ? path : disk.folder.path / "new.bin";
    CHECK_THAT(message(ErrorKind::environment, [&] { write_file(target, std::string(200000, 'x'), overwrite); }),
               ContainsSubstring("No space left on device (errno 28)") && ContainsSubstring("free space"));
  }
  CHECK(bytes_of(path) == "earlier");
  CHECK(disk.folder.files() == 1);
}

TEST_CASE("too little space is found before anything is measured") {
  const SmallDisk disk;
  if (!disk.why_not.empty()) SKIP(disk.why_not);
  CHECK_THAT(message(ErrorKind::environment, [&] { probe_output(disk.folder.path / "out.h5", false, 50 << 20); }),
             ContainsSubstring("out.h5") && ContainsSubstring("51.0 MiB") && ContainsSubstring("0.1 MiB free"));
  CHECK(disk.folder.files() == 0);
}
