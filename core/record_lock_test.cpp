#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <hdf5.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/hash.hpp>
#include <megaup/core/record.hpp>

/// Files that others have open, had open when they died, or must not see changed.
using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

const fs::path kGolden = fs::path("tests") / "golden";

/// A copy of a golden file.
struct Copy {
  fs::path folder, path;
  Copy() {
    std::string made = (fs::temp_directory_path() / "megaup-lock.XXXXXX").string();
    folder = mkdtemp(made.data());
    path = folder / "worked.h5";
    fs::copy_file(kGolden / "worked.h5", path);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
  ~Copy() { fs::remove_all(folder); }
};

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string error_of(const fs::path& path) {
  try {
    read_record(path);
  } catch (const Error& error) {
    std::string text = error.what();
    CHECK(text.find('\n') == std::string::npos);
    CHECK_THAT(text, ContainsSubstring(path.filename().string()));
    return text;
  }
  return "no error";
}

}  // namespace

TEST_CASE("a file whose writer was killed is recognised, and not touched") {
  const Copy copy;
  const auto path = copy.folder / "killed.h5";
  const pid_t writer = fork();
  if (writer == 0) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Gcreate2(file, "cells", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(writer, &status, 0) == writer);
  REQUIRE(WIFSIGNALED(status));
  const auto before = sha256(bytes_of(path));
  CHECK_THAT(error_of(path), ContainsSubstring("not closed by its writer") && ContainsSubstring("h5clear -s") &&
                                 ContainsSubstring("copy"));
  CHECK(sha256(bytes_of(path)) == before);
}

TEST_CASE("reading changes nothing, not even of a file that could be written") {
  const Copy copy;
  const auto before = sha256(bytes_of(copy.path));
  const auto time = fs::last_write_time(copy.path);
  read_record(copy.path);
  CHECK(sha256(bytes_of(copy.path)) == before);
  CHECK(fs::last_write_time(copy.path) == time);
}

TEST_CASE("a file that a writer has open is not read") {
  const Copy copy;
  const hid_t file = H5Fopen(copy.path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(file >= 0);
  try {
    read_record(copy.path);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), ContainsSubstring(copy.path.string()) && ContainsSubstring("HDF5_USE_FILE_LOCKING"));
  }
  H5Fclose(file);
  CHECK(read_record(copy.path).cells.size() == 5);
}

TEST_CASE("the HDF5 library prints nothing of its own, and its printing is as before afterwards") {
  H5E_auto2_t before = nullptr, after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  const Copy copy;
  std::ofstream(copy.path) << std::string(5000, 'x');
  error_of(copy.path);
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  CHECK(before == after);
}
