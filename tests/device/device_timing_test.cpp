#include <fake_device.hpp>

#include <atomic>

#include <catch2/catch_test_macros.hpp>

#include <megaup/experiments/device_timing.hpp>

/// Blocks on a device: its own clock, nothing waited for on the host, the same counts on all ranks.
namespace megaup {
namespace {

using experiments::BlockTimes;
using experiments::DeviceTiming;
using experiments::Measure;

/// What rank `rank` of two got, whose launches take 1 ms on rank 0 and 3 ms on rank 1.
struct Timed {
  std::vector<BlockTimes> times;
  std::size_t most_waiting = 0;
  int launches = 0, flushes = 0;
  bool whole = false;
};

std::vector<Timed> timed(const Measure& measure, bool solo = false, int arms = 1, bool hooks = false) {
  std::vector<Timed> result(2);
  fake::on_fake_devices(2, [&](fake::FakeWorld& world) {
    const std::atomic<bool> stop = false;
    experiments::Deadline deadline(world, stop, 30);
    experiments::Observing how{world, deadline, measure};
    Timed& mine = result[static_cast<std::size_t>(world.rank())];
    int done = 0;
    if (hooks) {
      how.before = [&](std::int64_t number) { fake::expect(done == number, "all launches before have ended"); };
      how.after = [&](std::int64_t number) { fake::expect(done == number + 1, "the launch has ended"); };
    }
    const double seconds = world.rank() == 0 ? 1e-3 : 3e-3;
    std::vector<std::function<void()>> launches;
    for (int arm = 0; arm < arms; ++arm)
      launches.emplace_back([&, arm] {
        ++mine.launches;
        world.fake().enqueue(seconds * (arm + 1), [&] { ++done; });
      });
    experiments::Backend backend{.device = experiments::DeviceKind::cuda, .share_device = solo, .solo = solo};
    DeviceTiming timing(world, measure, backend);
    timing.begin();
    mine.times = timing.time_blocks(how, launches);
    mine.most_waiting = world.fake().most_waiting();
    mine.flushes = world.fake().flushes;
    mine.whole = world.fake().whole();
    fake::expect(done == mine.launches, "nothing is left in the stream");
  });
  return result;
}

void check_seconds(const BlockTimes& times, std::size_t observations, double expected) {
  REQUIRE(times.seconds.size() == observations);
  for (const double seconds : times.seconds) CHECK(std::abs(seconds - expected) < 1e-9);
}

TEST_CASE(
    "sustained: times are the device's, without what stands before the launch, and the host stays a few launches "
    "ahead") {
  const auto ranks = timed({.warmup = 3, .observations = 100, .cache = experiments::Cache::cold});
  for (const std::size_t rank : {0u, 1u}) {
    check_seconds(ranks[rank].times[0], 100, rank == 0 ? 1e-3 : 3e-3);
    // 4 to see how long one takes, a quarter of a second of the slowest rank's, the warm-ups and the observations
    CHECK(ranks[rank].launches == 4 + 83 + 3 + 100);
    CHECK(ranks[rank].flushes == ranks[rank].launches);
    CHECK(ranks[rank].most_waiting > 10);       // the device never runs dry
    CHECK(ranks[rank].most_waiting < 17 * 5u);  // flush, barrier, stamp, launch, stamp
    if (ranks[rank].times[0].state) CHECK(ranks[rank].times[0].state->power_w == 700);  // asked on another thread
    CHECK(ranks[rank].times[0].started_s > 1e9);
  }
}

TEST_CASE("spaced: nothing is enqueued before the last launch has ended") {
  const auto ranks = timed({.warmup = 1, .observations = 5, .duty = ops::Regime::spaced});
  check_seconds(ranks[0].times[0], 5, 1e-3);
  CHECK(ranks[0].most_waiting <= 4);
}

TEST_CASE("interleaved arms take turns and keep their own times") {
  const auto ranks = timed({.warmup = 2, .observations = 20}, false, 3);
  for (std::size_t arm = 0; arm < 3; ++arm) check_seconds(ranks[1].times[arm], 20, 3e-3 * static_cast<double>(arm + 1));
  CHECK(ranks[1].launches == 3 * (4 + 13 + 22));  // a round of the three takes 18 ms
}

TEST_CASE("hooks run while the device rests, in the order of the launches") {
  const auto ranks = timed({.warmup = 1, .observations = 4}, false, 2, true);
  check_seconds(ranks[0].times[1], 4, 2e-3);
}

TEST_CASE("solo: rank 0 alone launches, on the whole device") {
  const auto ranks = timed({.warmup = 1, .observations = 4}, true);
  check_seconds(ranks[0].times[0], 4, 1e-3);
  CHECK(ranks[0].whole);
  CHECK(ranks[1].launches == 0);
  CHECK(ranks[1].times[0].seconds.empty());
  CHECK_FALSE(ranks[1].whole);
}

}  // namespace
}  // namespace megaup
