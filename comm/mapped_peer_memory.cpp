#include <megaup/comm/mapped_peer_memory.hpp>

#include <fmt/format.h>

namespace megaup::comm {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free,
              "flags are shared between processes, where a lock would not reach");

std::uint64_t* MappedPeerMemory::do_flag(int rank, std::size_t flag) const {
  return reinterpret_cast<std::uint64_t*>(map_.flags[static_cast<std::size_t>(rank)] + flag * kFlagStride);
}

void MappedPeerMemory::do_wait(std::size_t flag, std::uint64_t epoch, const std::function<std::string()>& what) {
  wait_until(
      rules_, [&] { return arrived(flag, epoch); },
      [&] {
        const std::uint64_t value = std::atomic_ref<std::uint64_t>(do_own_flag(flag)).load(std::memory_order_relaxed);
        return fmt::format("flag {} of rank {} to become {} (it is {}): {}", flag, rules_.rank, epoch, value, what());
      });
}

}  // namespace megaup::comm
