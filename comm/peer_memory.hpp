#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace megaup::comm {

constexpr std::size_t kFlagStride = 64;  // a cache line: pollers of different flags do not disturb each other

/// Symmetric memory: the same number of bytes on every rank, each reachable by plain loads and stores from every rank
/// of the group, and a block of epoch flags a rank. Flags count launches, so that a late rank is never overtaken and
/// nothing is reset in between.
///
/// Publish  write data to base(peer), then signal(peer, flag, epoch): a release; whoever sees the epoch sees the data.
/// Wait     wait(flag, epoch, what): until this rank's own flag is >= epoch (acquire). Throws Error{cell} on abort, or
///          when it lasts longer than the launch's patience, naming the flag's index, its value, the epoch waited for
///          and what() (rank and tile in words).
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  std::size_t bytes() const { return bytes_; }
  std::size_t flags() const { return flags_; }
  std::byte* base(int rank) const { return do_base(rank); }
  void signal(int rank, std::size_t flag, std::uint64_t epoch) {
    slot(rank, flag).store(epoch, std::memory_order_release);
  }
  bool arrived(std::size_t flag, std::uint64_t epoch) const {
    return own(flag).load(std::memory_order_acquire) >= epoch;
  }
  void wait(std::size_t flag, std::uint64_t epoch, const std::function<std::string()>& what) {
    if (!arrived(flag, epoch)) do_wait(flag, epoch, what);
  }

 protected:
  PeerMemory(std::size_t bytes, std::size_t flags) : bytes_(bytes), flags_(flags) {}
  /// Address of a flag; flags of one rank lie kFlagStride bytes apart so that pollers of different flags share no cache
  /// line.
  virtual std::uint64_t* do_flag(int rank, std::size_t flag) const = 0;

 private:
  virtual std::byte* do_base(int rank) const = 0;
  virtual std::uint64_t& do_own_flag(std::size_t flag) const = 0;
  virtual void do_wait(std::size_t flag, std::uint64_t epoch, const std::function<std::string()>& what) = 0;

  std::atomic_ref<std::uint64_t> slot(int rank, std::size_t flag) const {
    return std::atomic_ref<std::uint64_t>(*do_flag(rank, flag));
  }
  std::atomic_ref<std::uint64_t> own(std::size_t flag) const {
    return std::atomic_ref<std::uint64_t>(do_own_flag(flag));
  }

  std::size_t bytes_, flags_;
};

}  // namespace megaup::comm
