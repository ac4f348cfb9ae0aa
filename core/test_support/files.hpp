#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/record.hpp>

/// Folders and files of tests.
namespace megaup::core::test_support {

/// Tests of a layer run in the root of the source tree.
inline const std::filesystem::path kGolden = std::filesystem::path("tests") / "golden";

/// A new folder, gone with its contents at the end.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "megaup-test.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

/// A copy of a golden file that may be changed, alone in a folder.
struct GoldenCopy {
  Folder folder;
  std::filesystem::path path;
  explicit GoldenCopy(const char* name = "worked.h5") : path(folder.path / name) {
    std::filesystem::copy_file(kGolden / name, path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The one line that reading the file ends with, which must name it; "no error" if it reads.
inline std::string error_of(const std::filesystem::path& path) {
  try {
    read_record(path);
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find('\n') == std::string::npos);
    CHECK_THAT(text, Catch::Matchers::ContainsSubstring(path.filename().string()));
    return text;
  }
  return "no error";
}

}  // namespace megaup::core::test_support
