#include <megaup/cli/measure/stop_watch.hpp>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::cli {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

StopWatch::StopWatch() {
  const auto set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

StopWatch::~StopWatch() {
  over_ = true;
  if (watcher_.joinable()) watcher_.join();
  // The signals stay blocked: what was to be stopped is over, and a launcher that ends all ranks because one ended with
  // "some cells failed" must not turn that status of the others into "killed".
}

void StopWatch::watch(std::chrono::milliseconds grace, std::function<void()> last_resort) {
  watcher_ = std::thread([this, grace, resort = std::move(last_resort)] { wait_for_signal(grace, resort); });
}

void StopWatch::wait_for_signal(std::chrono::milliseconds grace, const std::function<void()>& last_resort) {
  const auto set = stop_signals();
  const timespec look{0, 20'000'000};  // so that the destructor is heard
  int signal = -1;
  while (signal < 0) {
    if (over_) return;
    signal = sigtimedwait(&set, nullptr, &look);
  }
  requested_ = true;
  fmt::print(stderr, "megaup: {} received: stopping\n", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  const auto end = std::chrono::steady_clock::now() + grace;
  while (std::chrono::steady_clock::now() < end) {
    if (over_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  try {
    last_resort();
  } catch (const std::exception& error) {
    fmt::print(stderr, "megaup: {}\n", error.what());
  }
  std::fflush(nullptr);
  _exit(core::exit_status(core::ErrorKind::stopped));
}

}  // namespace megaup::cli
