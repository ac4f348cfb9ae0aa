#include <megaup/tests/allocation/counting_malloc.hpp>

#include <dlfcn.h>
#include <execinfo.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

// The C library's own functions, which remain reachable under these names when a program defines malloc.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t n, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace megaup::test {
namespace {

thread_local bool counting = false;
thread_local Allocations found;

bool from_onednn() {
  void* frames[40];
  const int n = backtrace(frames, 40);
  for (int i = 0; i < n; ++i)
    if (Dl_info info{}; dladdr(frames[i], &info) != 0 && info.dli_fname != nullptr && std::strstr(info.dli_fname, "libdnnl") != nullptr) return true;
  return false;
}

void count() {
  if (!counting) return;
  counting = false;  // backtrace may allocate
  ++(from_onednn() ? found.library : found.ours);
  counting = true;
}

}  // namespace

Counting::Counting() {
  void* frames[2];
  backtrace(frames, 2);  // loads its library now
  found = {};
  counting = true;
}

Allocations Counting::stop() {
  counting = false;
  return found;
}

}  // namespace megaup::test

extern "C" {
void* malloc(std::size_t bytes) {
  megaup::test::count();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  megaup::test::count();
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  megaup::test::count();
  return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  megaup::test::count();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  megaup::test::count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  megaup::test::count();
  *out = __libc_memalign(alignment, bytes);
  return *out == nullptr ? ENOMEM : 0;
}
}
