#include <megaup/core/record_bytes.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/core/file_lock.hpp>
#include <megaup/core/record_tree.hpp>
#include <megaup/core/text.hpp>

namespace megaup::core::detail {
namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string& name, const std::string& what) {
  throw Error(kind, fmt::format("{}: {}", name, what));
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path) : name_(one_line(path.string())) {
  // Without O_NONBLOCK a named pipe would wait here for a writer.
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) {
    const auto kind = errno == ENOENT || errno == ENOTDIR ? ErrorKind::usage : ErrorKind::environment;
    fail(kind, name_,
         fmt::format("cannot be opened: {}: give the path of a result file that may be read", std::strerror(errno)));
  }
  struct stat status {};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file_);
    fail(ErrorKind::usage, name_, "not a regular file: give the path of a result file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (locking_enabled() && flock(file_, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(file_);
    fail(ErrorKind::environment, name_,
         fmt::format("another process has it open for writing (flock, errno {}): wait until it is closed. If a file "
                     "system left the lock "
                     "behind, set HDF5_USE_FILE_LOCKING=FALSE",
                     EWOULDBLOCK));
  }
}

FileBytes::~FileBytes() { close(file_); }

void FileBytes::check(std::uint64_t offset, std::uint64_t n) const {
  if (offset > size_ || n > size_ - offset)
    throw Damaged(fmt::format("{} bytes at {} lie outside the file of {} bytes", n, offset, size_));
}

void FileBytes::read(std::uint64_t offset, std::span<std::byte> into) const {
  check(offset, into.size());
  while (!into.empty()) {
    const auto n = pread(file_, into.data(), into.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      fail(ErrorKind::environment, name_,
           fmt::format("cannot be read at byte {}: {}: check the disk", offset, std::strerror(errno)));
    if (n == 0) throw Damaged(fmt::format("the file became shorter than byte {} while it was read", offset));
    offset += static_cast<std::uint64_t>(n);
    into = into.subspan(static_cast<std::size_t>(n));
  }
}

std::string FileBytes::bytes(std::uint64_t offset, std::uint64_t n) {
  check(offset, n);
  std::string result;
  if (n > kBlockBytes) {
    result.resize(static_cast<std::size_t>(n));
    read(offset, std::as_writable_bytes(std::span(result)));
    return result;
  }
  result.reserve(static_cast<std::size_t>(n));
  while (result.size() < n) {
    const std::uint64_t at = offset + result.size();
    result.append(block(at / kBlockBytes), static_cast<std::size_t>(at % kBlockBytes),
                  static_cast<std::size_t>(n) - result.size());
  }
  return result;
}

const std::string& FileBytes::block(std::uint64_t number) {
  Block& kept = blocks_[static_cast<std::size_t>(number % kBlocks)];
  if (kept.number == number) return kept.bytes;
  kept.number = UINT64_MAX;  // until it is whole: reading may throw
  const std::uint64_t begin = number * kBlockBytes;
  kept.bytes.resize(static_cast<std::size_t>(std::min(kBlockBytes, size_ - begin)));
  read(begin, std::as_writable_bytes(std::span(kept.bytes)));
  kept.number = number;
  return kept.bytes;
}

void Cursor::too_short(std::uint64_t missing) {
  throw Damaged(fmt::format("a structure ends {} bytes too early", missing));
}

void Cursor::expect(std::string_view signature) {
  if (take(signature.size()) != signature)
    throw Damaged(fmt::format("no {} structure where one is pointed to", signature));
}

}  // namespace megaup::core::detail
