#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace megaup::core {

/// Owning host memory on a page boundary (vector loads, oneDNN and MPI windows all like it), zero bytes allowed. Throws
/// Error{environment} with the size when memory runs out. Pages are touched at construction so that first use is not timed; the
/// system takes longer to provide a page than a copy to fill it, so large buffers are touched by several threads: `threads` in all, the caller's among
/// them, and no more than there are pages.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes, int threads = 1);
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }
  template <class T>
  T* as() const { return reinterpret_cast<T*>(data_.get()); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// Hands what the allocator keeps of freed memory back to the system. Without it the peak of a process depends on what it
/// freed before. Does nothing where another allocator stands in the place of the C library's.
void give_back_freed_memory();

}  // namespace megaup::core
