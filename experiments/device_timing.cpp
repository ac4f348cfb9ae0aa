#include <megaup/experiments/device_timing.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace megaup::experiments {
namespace {

constexpr double kNotTaken = std::numeric_limits<double>::quiet_NaN();
// Launches that wait in the stream: enough that the host is never late for one of 50 us, few enough that no queue of the
// driver is ever full (a full one would stop all ranks of the process while kernels wait for one another).
constexpr std::int64_t kAhead = 16;
constexpr double kRest = 4;  // a fifth of the time at work: on an H200 the clocks stay at their highest
// Of work between two looks at the deadline, for which all ranks meet on the host: none within a block of short launches.
constexpr double kLookSeconds = 0.1;

/// One call of time_blocks on a rank that launches.
class Series {
 public:
  Series(const Observing& how, core::Device& device, comm::StreamBarrier* barrier,
         std::span<const std::function<void()>> launches, const DeviceWatch* watch, bool alone)
      : how_(how),
        device_(device),
        barrier_(barrier),
        watch_(watch),
        alone_(alone),
        launches_(launches),
        n_(static_cast<std::int64_t>(launches.size())),
        times_(launches.size()),
        one_by_one_(how.measure.duty == ops::Regime::spaced || how.before || how.after) {}

  std::vector<BlockTimes> run() {
    if (!one_by_one_) heat();
    if (over_) return std::move(times_);
    const auto begin = std::chrono::steady_clock::now();
    launch((how_.measure.warmup + how_.measure.observations) * n_, true);
    if (watch_ == nullptr) return std::move(times_);
    const auto state = watch_->during(begin, std::chrono::steady_clock::now());
    for (auto& each : times_) each.state = state;
    return std::move(times_);
  }

 private:
  /// As many rounds as take kHeatSeconds, by the slowest rank: all ranks launch the same number. Some probes before say
  /// how long a round takes.
  void heat() {
    constexpr std::int64_t kProbes = 4, kMostRounds = 4000;
    constexpr double kShortest = 1e-6;
    launch(kProbes * n_, false);
    if (over_) return;
    double seconds = std::max(busy_s_ / kProbes, kShortest);
    if (!alone_) seconds = std::ranges::max(how_.world.all_gather(seconds));
    look_every_ =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(kLookSeconds * static_cast<double>(n_) / seconds));
    ahead_ = std::min(kAhead, look_every_ + 1);
    launch(n_ * std::min(kMostRounds, static_cast<std::int64_t>(DeviceTiming::kHeatSeconds / seconds)), false);
  }

  /// Ends early, on all ranks after the same launch, when the deadline has passed.
  void launch(std::int64_t total, bool timed) {
    for (std::int64_t number = 0; number < total && !over_; ++number) {
      if (number >= ahead_) take(number - ahead_, timed);
      look(number);
      if (!over_) observe(number, timed);
    }
    if (over_) return device_.synchronize();
    for (std::int64_t number = std::max<std::int64_t>(0, total - ahead_); number < total; ++number) take(number, timed);
    device_.synchronize();
  }

  /// A rank that launches alone cannot ask the others, who wait for the end of the block: they hear of it then.
  void look(std::int64_t number) {
    if (number % look_every_ == 0) over_ = alone_ ? how_.deadline.passed() : how_.deadline.passed_anywhere();
  }

  std::int64_t observation(std::int64_t number) const { return number / n_ - how_.measure.warmup; }
  std::size_t turn(std::int64_t number) const { return static_cast<std::size_t>(number % n_); }
  int stamp(std::int64_t number) const { return static_cast<int>(2 * (number % ahead_)); }

  void observe(std::int64_t number, bool timed) {
    if (how_.before) how_.before(number);
    if (how_.measure.cache == Cache::cold) device_.flush_cache();
    if (how_.measure.duty == ops::Regime::spaced)
      std::this_thread::sleep_for(std::min(how_.deadline.left(), std::chrono::duration<double>(kRest * last_s_)));
    if (timed && observation(number) == 0)
      times_[turn(number)].started_s =
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    if (barrier_ != nullptr) barrier_->enqueue();
    device_.mark(stamp(number));
    launches_[turn(number)]();
    device_.mark(stamp(number) + 1);
    if (!how_.after) return;
    device_.synchronize();
    how_.after(number);
  }

  void take(std::int64_t number, bool timed) {
    device_.wait(stamp(number) + 1);
    last_s_ = device_.seconds(stamp(number), stamp(number) + 1);
    busy_s_ += last_s_;
    if (timed && observation(number) >= 0) times_[turn(number)].seconds.push_back(last_s_);
  }

  const Observing& how_;
  core::Device& device_;
  comm::StreamBarrier* barrier_;
  const DeviceWatch* watch_;
  bool alone_;
  std::span<const std::function<void()>> launches_;
  std::int64_t n_;
  std::vector<BlockTimes> times_;
  bool one_by_one_;
  std::int64_t ahead_ = 1, look_every_ = 1;
  double last_s_ = 0, busy_s_ = 0;
  bool over_ = false;
};

}  // namespace

DeviceTiming::DeviceTiming(comm::Communicator& world, const Measure& measure, const Backend& backend)
    : world_(world), device_(*world.device()), solo_(backend.solo), shared_(backend.share_device) {
  if (!solo_ && measure.cadence == Cadence::barrier && world.size() > 1) barrier_ = world.stream_barrier();
}

void DeviceTiming::begin() {
  if (!shared_ || world_.rank() == 0) watch_.emplace(device_);
  if (solo_ && launches_here()) device_.use_whole(true);
}

void DeviceTiming::prepared(ops::PreparedOperation& arm) const {
  if (solo_ && launches_here()) arm.assume_peers_arrived();
}

std::vector<BlockTimes> DeviceTiming::time_blocks(const Observing& how,
                                                  std::span<const std::function<void()>> launches) {
  how.deadline.check();
  std::vector<BlockTimes> times(launches.size());
  if (launches_here()) times = Series(how, device_, barrier_.get(), launches, watch_ ? &*watch_ : nullptr, solo_).run();
  how.deadline.check();
  return times;
}

void DeviceLog::keep(const core::CellRecord& record, std::size_t at, const BlockTimes& times) {
  const std::size_t blocks = record.started.size();
  constexpr core::DeviceState kNothing{kNotTaken, kNotTaken, kNotTaken, kNotTaken, kNotTaken};
  const core::DeviceState state = times.state.value_or(kNothing);
  const double values[] = {state.sm_clock_hz, state.memory_clock_hz, state.power_w, state.temperature_c,
                           state.throttle_reasons};
  for (std::size_t i = 0; i < core::kDeviceQuantities.size(); ++i) {
    auto& series = mine_.*core::kDeviceQuantities[i].values;
    series.resize(blocks, kNotTaken);
    series[at] = values[i];
  }
}

void DeviceLog::gather(comm::Communicator& world, core::CellRecord& record, bool shared) const {
  const auto ranks = static_cast<std::size_t>(record.ranks);
  for (const auto& quantity : core::kDeviceQuantities) {
    const auto& mine = mine_.*quantity.values;
    const auto all = world.all_gather(std::as_bytes(std::span(mine)));
    const auto* values = reinterpret_cast<const double*>(all.data());
    auto& series = record.device.*quantity.values;
    series.assign(mine.size() * ranks, kNotTaken);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < mine.size(); ++i)
        series[i * ranks + rank] = values[(shared ? 0 : rank) * mine.size() + i];
  }
}

}  // namespace megaup::experiments
