#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <hdf5.h>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/hash.hpp>
#include <megaup/core/record.hpp>
#include <megaup/core/test_support/files.hpp>

/// Files that others have open, had open when they died, or must not see changed.
using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
using test_support::bytes_of, test_support::error_of, test_support::GoldenCopy;
namespace fs = std::filesystem;

TEST_CASE("a file whose writer was killed is recognised, and not touched") {
  const GoldenCopy copy;
  const auto path = copy.folder.path / "killed.h5";
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
  const GoldenCopy copy;
  const auto before = sha256(bytes_of(copy.path));
  const auto time = fs::last_write_time(copy.path);
  read_record(copy.path);
  CHECK(sha256(bytes_of(copy.path)) == before);
  CHECK(fs::last_write_time(copy.path) == time);
}

TEST_CASE("a file that a writer has open is not read") {
  const GoldenCopy copy;
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
  const GoldenCopy copy;
  std::ofstream(copy.path) << std::string(5000, 'x');
  error_of(copy.path);
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  CHECK(before == after);
}
