#include <megaup/core/buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>

using megaup::core::Buffer;

TEST_CASE("a buffer is on a page boundary, of its size, and zero, however many threads touch it") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{1000003}})
    for (const int threads : {1, 3, 8}) {
      const Buffer buffer(size, threads);
      CHECK(buffer.size() == size);
      CHECK(buffer.bytes().size() == size);
      CHECK(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 4096 == 0);
      CHECK(std::all_of(buffer.bytes().begin(), buffer.bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
      std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{1});  // the next one may get the same memory
    }
}

TEST_CASE("a buffer of zero bytes has none") {
  CHECK(Buffer(0).size() == 0);
  CHECK(Buffer(0).bytes().empty());
  CHECK(Buffer().bytes().empty());
}

TEST_CASE("a buffer may be written whole and moved away from") {
  Buffer buffer(8 * 1000);
  auto* numbers = buffer.as<double>();
  std::fill(numbers, numbers + 1000, 2.5);
  const Buffer taken = std::move(buffer);
  CHECK(taken.as<double>() == numbers);
  CHECK(taken.as<double>()[999] == 2.5);
}

TEST_CASE("a buffer that cannot be had is an error with its size") {
  using Catch::Matchers::ContainsSubstring;
  std::vector<std::size_t> sizes{std::numeric_limits<std::size_t>::max() / 2 + 2,
                                 std::numeric_limits<std::size_t>::max()};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators end the program instead
  sizes.push_back(std::size_t{1} << 50);
#endif
  for (const auto size : sizes) {
    try {
      const Buffer buffer(size);
      FAIL("no error for " << size);
    } catch (const megaup::core::Error& error) {
      CHECK(error.kind() == megaup::core::ErrorKind::environment);
      CHECK_THAT(error.what(), ContainsSubstring(std::to_string(size)));
    }
  }
}
