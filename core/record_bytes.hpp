#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace megaup::core::detail {

/// A file opened for reading only, under a shared lock as HDF5 takes it: a writer that has it open is noticed, and none can start while it
/// is read. A file system without locks is read all the same.
class FileBytes {
 public:
  /// Throws Error{usage} (no such file, not a regular file) or Error{environment} (no permission, locked by a writer).
  explicit FileBytes(const std::filesystem::path& path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::uint64_t size() const { return size_; }
  /// A copy of [offset, offset + n). Throws Damaged if that is not inside the file.
  std::string bytes(std::uint64_t offset, std::uint64_t n);
  /// The same into memory of the caller, past the blocks: for large data.
  void read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  void check(std::uint64_t offset, std::uint64_t n) const;

  std::string name_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  /// Small reads lie close together, but not in order: the structures of a cell are scattered over some 100 KiB, between
  /// its times. Block i is kept in place i % kBlocks, so that hardly any byte is read twice.
  struct Block {
    std::uint64_t number = UINT64_MAX;
    std::string bytes;
  };
  static constexpr std::uint64_t kBlockBytes = 8192;
  static constexpr std::size_t kBlocks = 64;
  const std::string& block(std::uint64_t number);

  std::array<Block, kBlocks> blocks_;
};

/// Takes little-endian numbers and pieces off the front of some bytes. Throws Damaged when they end too early.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t n_bytes) {
    std::uint64_t value = 0;
    const auto piece = take(n_bytes);
    for (std::size_t i = 0; i < n_bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>(piece[i])} << (8 * i);
    return value;
  }
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size()) too_short(n - bytes_.size());
    const auto piece = bytes_.substr(0, static_cast<std::size_t>(n));
    bytes_.remove_prefix(static_cast<std::size_t>(n));
    return piece;
  }
  void skip(std::uint64_t n) { take(n); }
  void expect(std::string_view signature);
  std::size_t left() const { return bytes_.size(); }

 private:
  [[noreturn]] static void too_short(std::uint64_t missing);

  std::string_view bytes_;
};

}  // namespace megaup::core::detail
