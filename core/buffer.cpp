#include <megaup/core/buffer.hpp>

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::core {
namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void refuse(std::size_t bytes) {
  throw Error(ErrorKind::environment, fmt::format("cannot allocate {} bytes of host memory: choose fewer tokens_per_rank or a smaller model", bytes));
}

/// Whole pages, in equal parts.
void touch(std::span<std::byte> memory, std::size_t threads) {
  const std::size_t pages = memory.size() / kPage;
  const auto zero = [&](std::size_t part) {
    const std::size_t first = pages * part / threads * kPage, last = pages * (part + 1) / threads * kPage;
    std::memset(memory.data() + first, 0, last - first);
  };
  std::vector<std::jthread> others;
  for (std::size_t part = 1; part < threads; ++part) others.emplace_back(zero, part);
  zero(0);
}

const void* library_of(const char* function) {
  Dl_info found{};
  const void* address = dlsym(RTLD_DEFAULT, function);
  return address != nullptr && dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

/// Another allocator may stand in the place of the C library's (a sanitizer's, jemalloc). Trimming the unused one would
/// begin it in this thread, and it ends the program when the thread ends.
bool malloc_can_be_trimmed() {
  static const bool it_can =
      library_of("malloc") != nullptr && library_of("malloc") == library_of("malloc_trim");
  return it_can;
}

}  // namespace

Buffer::Buffer(std::size_t bytes, int threads) : size_(bytes) {
  if (bytes == 0) return;
  if (bytes > PTRDIFF_MAX) refuse(bytes);  // rounding up to whole pages would wrap around
  const std::size_t whole_pages = (bytes + kPage - 1) / kPage * kPage;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, whole_pages)));
  if (!data_) refuse(bytes);
  touch({data_.get(), whole_pages}, std::clamp<std::size_t>(threads > 0 ? static_cast<std::size_t>(threads) : 1, 1, whole_pages / kPage));
}

void give_back_freed_memory() {
  if (malloc_can_be_trimmed()) malloc_trim(0);
}

void Buffer::Free::operator()(std::byte* p) const noexcept { std::free(p); }

}  // namespace megaup::core
