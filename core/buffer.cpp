#include <megaup/core/buffer.hpp>

#include <dlfcn.h>
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

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  if (bytes > PTRDIFF_MAX) refuse(bytes);  // rounding up to whole pages would wrap around
  const std::size_t whole_pages = (bytes + kPage - 1) / kPage * kPage;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, whole_pages)));
  if (!data_) refuse(bytes);
  std::memset(data_.get(), 0, whole_pages);
}

void give_back_freed_memory() {
  if (malloc_can_be_trimmed()) malloc_trim(0);
}

void Buffer::Free::operator()(std::byte* p) const noexcept { std::free(p); }

}  // namespace megaup::core
