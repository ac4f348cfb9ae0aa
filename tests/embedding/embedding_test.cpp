#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include <files.hpp>

namespace {

std::string bytes_on_disk(const std::string& name) {
  std::ifstream file(std::string(FOLDER) + "/" + name, std::ios::binary);
  REQUIRE(file.is_open());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("embedded files are the files on disk, by name and byte for byte") {
  const auto files = megaup::test::embedded_files();
  REQUIRE(files.size() == 2);
  CHECK(files[0].name == "empty.txt");
  CHECK(files[0].bytes.empty());
  CHECK(files[1].name == "large.txt");
  CHECK(files[1].bytes.size() > 65536);
  CHECK(files[1].bytes == bytes_on_disk("large.txt"));
}

TEST_CASE("a NUL follows the last embedded byte") {
  for (const auto& file : megaup::test::embedded_files()) CHECK(file.bytes.data()[file.bytes.size()] == '\0');
}
