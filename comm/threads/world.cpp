#include <megaup/comm/threads/world.hpp>

#include <atomic>

namespace megaup::comm::threads {

void World::abort(const core::Error& cause, int rank) noexcept {
  const std::lock_guard lock(mutex_);
  if (cause_) return;
  try {
    cause_.emplace(cause.kind(), cause.what(), cause.rank() < 0 ? rank : cause.rank());
  } catch (...) {
    cause_ = cause;  // no memory for a copy of the text; sharing it needs none
  }
  std::atomic_ref<std::uint32_t>(aborted_by_).store(static_cast<std::uint32_t>(rank) + 1, std::memory_order_release);
}

}  // namespace megaup::comm::threads
