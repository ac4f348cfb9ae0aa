#include <megaup/core/record.hpp>

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/test_support/files.hpp>
#include <megaup/core/test_support/records.hpp>

/// Bytes that a copy, a disk or a kill left behind.
using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
using test_support::bytes_of, test_support::kGolden;
namespace fs = std::filesystem;

namespace {

struct Damaged {
  fs::path path;
  explicit Damaged(const std::string& bytes) {
    std::string name = (fs::temp_directory_path() / "megaup-damaged.XXXXXX").string();
    close(mkstemp(name.data()));
    path = name;
    write(bytes);
  }
  ~Damaged() { fs::remove(path); }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; }
};

/// "" if the record reads, else the one line that says why not.
std::string outcome(const fs::path& path) {
  try {
    read_record(path);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// A file with one small cell, so that damage hits structures rather than times.
std::string small_file() {
  auto record = test_support::record_of({test_support::measured_cell("a", {"native_packed", "fused"}, {0, 1}, 3)});
  record.environment["modules"] = std::string(70000, 'm');
  const Damaged file("");
  write_record(record, file.path, true);
  return bytes_of(file.path);
}

/// One to four bytes changed, mostly where there are any but zeros.
std::string mutated(std::string bytes, std::mt19937& random) {
  const auto n = 1 + random() % 4;
  for (unsigned i = 0; i < n; ++i) {
    auto at = random() % bytes.size();
    for (int attempt = 0; attempt < 20 && bytes[at] == 0; ++attempt) at = random() % bytes.size();
    const auto kind = random() % 4;
    if (kind == 0)
      bytes[at] = '\xff';
    else if (kind == 1)
      bytes[at] = static_cast<char>(bytes[at] ^ (1u << random() % 8));
    else
      bytes[at] = static_cast<char>(random());
  }
  return bytes;
}

/// Reads mutations one after the other, in a process of its own so that a crash, a hang or a grab for memory is seen as such.
/// Its exit status: 0 if each gave a record or a one-line error, 1 if not.
int read_mutations(const std::string& bytes, unsigned seed, int n) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);                                                      // a hang; a batch takes a second
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these reserve far more than they use
    const rlimit memory{std::size_t{2} << 30, std::size_t{2} << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    std::mt19937 random(seed);
    const Damaged file("");
    int status = 0;
    for (int i = 0; i < n; ++i) {
      file.write(mutated(bytes, random));
      try {
        for (const auto& cell : read_record(file.path).cells)
          if (cell.fault.find('\n') != std::string::npos) status = 1;
      } catch (const Error& error) {
        if (std::string(error.what()).find('\n') != std::string::npos) status = 1;
      } catch (...) {
        status = 1;
      }
    }
    fs::remove(file.path);
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a file cut by one byte, to 100 bytes or to none says truncated, and names itself") {
  const auto whole = bytes_of(kGolden / "worked.h5");
  for (const auto size : {whole.size() - 1, whole.size() / 2, std::size_t{100}, std::size_t{96}, std::size_t{50},
                          std::size_t{8}, std::size_t{1}, std::size_t{0}}) {
    const Damaged file(whole.substr(0, size));
    const auto text = outcome(file.path);
    CHECK_THAT(text, ContainsSubstring("truncated or not HDF5") && ContainsSubstring(file.path.string()));
    CHECK(text.find('\n') == std::string::npos);
  }
}

TEST_CASE("zeros behind the end do not matter") {
  const Damaged file(bytes_of(kGolden / "worked.h5") + std::string(64, '\0'));
  CHECK(read_record(file.path).cells.size() == 5);
}

TEST_CASE("what is not HDF5 says so") {
  for (const auto& bytes : {std::string("spec_version: 1\n"), std::string(100000, '\0'), std::string(5000, 'x'),
                            "\x89HDF\r\n\x1a\n" + std::string(5000, '\xff')})
    CHECK_THAT(outcome(Damaged(bytes).path), ContainsSubstring("not HDF5"));
}

TEST_CASE("a path that is no file, or not readable, is an error with the path") {
  CHECK_THAT(outcome("/nowhere/there.h5"),
             ContainsSubstring("/nowhere/there.h5: cannot be opened: No such file or directory"));
  CHECK_THAT(outcome(fs::temp_directory_path()), ContainsSubstring("not a regular file"));
  const auto pipe = fs::temp_directory_path() / ("megaup-pipe." + std::to_string(getpid()));
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(outcome(pipe), ContainsSubstring("not a regular file"));
  fs::remove(pipe);
}

TEST_CASE("a user block before the superblock is not in the way") {
  // The signature may be at 512, 1024, ...: addresses count from there.
  const auto whole = bytes_of(kGolden / "twin-a.h5");
  CHECK(read_record(Damaged(std::string(512, '#') + whole).path).cells.size() == 1);
}

TEST_CASE("mutated files give a record or a one-line error, never a crash, a hang or a grab for memory") {
  const auto golden = bytes_of(kGolden / "twin-a.h5"), own = small_file();
  for (unsigned seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    CHECK(read_mutations(golden, seed, 400) == 0);
    CHECK(read_mutations(own, seed, 400) == 0);
  }
}

TEST_CASE("a file cut anywhere gives an error") {
  const auto whole = small_file();
  const Damaged file("");
  int n_read = 0;
  for (std::size_t size = 0; size < whole.size(); size += 509) {
    file.write(whole.substr(0, size));
    n_read += outcome(file.path).empty();
  }
  CHECK(n_read == 0);
}
