#include <megaup/tests/conformance/worlds.hpp>

#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace megaup::conformance {

void expect(bool holds, std::string_view what, std::source_location where) {
  if (!holds) throw std::runtime_error(fmt::format("{}:{}: {}", where.file_name(), where.line(), what));
}

namespace {

std::uint64_t block_code(std::uint64_t round, int from, int to) {
  std::uint64_t word = 1;
  for (const std::uint64_t index : {round, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)})
    word = (word + index + 1) * 0x9E3779B97F4A7C15u;
  return word;
}

std::byte byte_of(std::uint64_t block, std::size_t k) {
  const std::uint64_t word = (block + k / 2) * 0x9E3779B97F4A7C15u;
  return static_cast<std::byte>((word >> (k % 2 == 0 ? 40 : 48)) & 0xff);
}

}  // namespace

void fill(std::byte* data, std::size_t bytes, std::uint64_t round, int from, int to) {
  const std::uint64_t block = block_code(round, from, to);
  for (std::size_t k = 0; k < bytes; ++k) data[k] = byte_of(block, k);
}

std::size_t wrong_bytes(const std::byte* data, std::size_t bytes, std::uint64_t round, int from, int to) {
  const std::uint64_t block = block_code(round, from, to);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < bytes; ++k) wrong += data[k] != byte_of(block, k) ? 1 : 0;
  return wrong;
}

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

}  // namespace megaup::conformance
