#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/wait.hpp>

namespace megaup::comm::threads {

/// One launch: what all its rank threads share.
class World {
 public:
  World(const LaunchOptions& options, bool crowded) : patience_(options.patience), crowded_(crowded) {}

  WaitRules rules(int rank) {
    return {.rank = rank, .patience = patience_, .crowded = crowded_, .aborted_by = &aborted_by_};
  }
  /// From any thread; the first cause stays.
  void abort(const core::Error& cause, int rank) noexcept;
  /// To be read when all ranks have ended.
  const std::optional<core::Error>& cause() const { return cause_; }

 private:
  std::chrono::duration<double> patience_;
  bool crowded_;
  std::uint32_t aborted_by_ = 0;
  std::mutex mutex_;
  std::optional<core::Error> cause_;
};

}  // namespace megaup::comm::threads
