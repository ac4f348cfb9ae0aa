#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace megaup::cli {

/// Turns SIGTERM and SIGINT into a wish to stop. The signals are blocked in the thread that makes it (and in all threads made later) until the process
/// ends, and one thread waits for them: no code runs in a signal handler. After the first signal the measurement has `grace` to end by itself; then
/// `last_resort` is called on the watching thread and the process ends with exit status 5.
class StopWatch {
 public:
  StopWatch();
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  /// Starts to watch.
  void watch(std::chrono::milliseconds grace, std::function<void()> last_resort);
  const std::atomic<bool>& requested() const { return requested_; }

 private:
  void wait_for_signal(std::chrono::milliseconds grace, const std::function<void()>& last_resort);

  std::atomic<bool> requested_{false}, over_{false};
  std::thread watcher_;
};

}  // namespace megaup::cli
