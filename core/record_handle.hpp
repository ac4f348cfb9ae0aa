#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

/// Ownership, silence and serialisation of the HDF5 C library, without its header: hid_t is std::int64_t since HDF5 1.10.
namespace megaup::core::detail {

/// An identifier that is closed at the end of its scope.
class Handle {
 public:
  using Close = int (*)(std::int64_t);
  Handle() = default;
  Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  std::int64_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

/// Held during every use of HDF5. Two reasons: most builds of the library (Spack's default among them) are not thread-safe, and where the
/// library is, its high-level part (dimension scales) is not; yet a signal watcher may merge cells while a rank's thread writes one. While
/// it is held, the library does not print its own stack of errors: reason() has the line that matters.
class Hdf5 {
 public:
  Hdf5();
  ~Hdf5();
  Hdf5(const Hdf5&) = delete;
  Hdf5& operator=(const Hdf5&) = delete;

  /// What the innermost failed call said, on one line; "no reason given" if nothing failed.
  static std::string reason();

 private:
  std::unique_lock<std::mutex> lock_;
  int (*print_)(std::int64_t, void*) = nullptr;
  void* print_to_ = nullptr;
};

}  // namespace megaup::core::detail
