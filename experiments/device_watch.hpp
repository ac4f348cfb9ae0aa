#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <megaup/core/device.hpp>

namespace megaup::experiments {

/// Asks a device for its state again and again, on a thread of its own: an answer may take a tenth of a second, for which
/// nobody who measures can wait.
class DeviceWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit DeviceWatch(core::Device& device);
  /// The answer of between the two times that is nearest to their middle; without any, the last one before.
  std::optional<core::DeviceState> during(Time begin, Time end) const;

 private:
  void watch(const std::stop_token& stop);

  struct Answer {
    Time when;
    core::DeviceState state;
  };
  core::Device& device_;
  mutable std::mutex mutex_;
  std::vector<Answer> answers_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace megaup::experiments
