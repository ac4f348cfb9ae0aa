#include <megaup/experiments/device_watch.hpp>

#include <algorithm>

namespace megaup::experiments {
namespace {

constexpr std::chrono::milliseconds kPeriod{10};

}  // namespace

DeviceWatch::DeviceWatch(core::Device& device)
    : device_(device), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void DeviceWatch::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const core::DeviceState state = device_.state();
    {
      const std::lock_guard lock(mutex_);
      answers_.push_back({std::chrono::steady_clock::now(), state});
    }
    std::this_thread::sleep_for(kPeriod);
  }
}

std::optional<core::DeviceState> DeviceWatch::during(Time begin, Time end) const {
  const std::lock_guard lock(mutex_);
  const auto distance = [middle = begin + (end - begin) / 2](const Answer& answer) {
    return answer.when < middle ? middle - answer.when : answer.when - middle;
  };
  const Answer* found = nullptr;
  for (const Answer& answer : answers_) {
    if (answer.when > end) break;
    if (found == nullptr || answer.when <= begin || distance(answer) < distance(*found)) found = &answer;
  }
  if (found == nullptr) return {};
  return found->state;
}

}  // namespace megaup::experiments
