#include <megaup/core/buffer.hpp>

#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::core {
namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void refuse(std::size_t bytes) {
  throw Error(ErrorKind::environment, fmt::format("cannot allocate {} bytes of host memory: choose fewer tokens_per_rank or a smaller model", bytes));
}

}  // namespace

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  if (bytes > PTRDIFF_MAX) refuse(bytes);  // rounding up to whole pages would wrap around
  const std::size_t whole_pages = (bytes + kPage - 1) / kPage * kPage;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, whole_pages)));
  if (!data_) refuse(bytes);
  std::memset(data_.get(), 0, whole_pages);
}

void give_back_freed_memory() { malloc_trim(0); }

void Buffer::Free::operator()(std::byte* p) const noexcept { std::free(p); }

}  // namespace megaup::core
