#include <fake_device.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/experiments/device_timing.hpp>

/// Blocks on a device: its own clock, nothing waited for on the host, the same counts on all ranks.
namespace megaup {
namespace {

using Catch::Matchers::ContainsSubstring;
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

/// What each rank did when launches take `seconds` of everybody's time and the cell may last `limit` seconds.
struct Ended {
  std::string why;
  int launches = 0;
  std::size_t left = 0;
};

std::vector<Ended> ended(const Measure& measure, double seconds, double limit, int stop_at = -1, bool solo = false) {
  std::vector<Ended> result(2);
  std::atomic<bool> stop = false;
  fake::on_fake_devices(2, [&](fake::FakeWorld& world) {
    experiments::Deadline deadline(world, stop, limit);
    Ended& mine = result[static_cast<std::size_t>(world.rank())];
    const std::function<void()> launch = [&] {
      if (++mine.launches == stop_at) stop = true;
      world.fake().enqueue(seconds, [&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
    };
    DeviceTiming timing(world, measure, {.device = experiments::DeviceKind::cuda, .share_device = solo, .solo = solo});
    timing.begin();
    try {
      timing.time_blocks({world, deadline, measure}, {&launch, 1});
    } catch (const experiments::AgreedError& error) {
      mine.why = error.what();
    }
    mine.left = world.fake().waiting();
  });
  return result;
}

TEST_CASE("a block whose launches are slow ends with the cell's time, on all ranks after the same launch") {
  for (const auto duty : {ops::Regime::sustained, ops::Regime::spaced})
    for (const bool solo : {false, true}) {
      CAPTURE(ops::name(duty), solo);
      const auto ranks = ended({.warmup = 1, .observations = 1000, .duty = duty}, 0.05, 0.6, -1, solo);
      for (const Ended& rank : ranks) {
        CHECK_THAT(rank.why, ContainsSubstring("took longer than measure.cell_timeout (0.6 s)"));
        CHECK(rank.left == 0);
      }
      CHECK(ranks[0].launches > 1);
      CHECK(ranks[0].launches < 100);
      CHECK(ranks[1].launches == (solo ? 0 : ranks[0].launches));
    }
}

TEST_CASE("the heat and the probes before a sustained block end with the cell's time as well") {
  const auto ranks = ended({.warmup = 1, .observations = 1}, 0.2, 0.3);
  CHECK_THAT(ranks[1].why, ContainsSubstring("took longer than"));
  CHECK(ranks[1].launches <= 4);
  CHECK(ranks[0].launches == ranks[1].launches);
}

TEST_CASE("a wish to stop is heard within a block") {
  const auto ranks = ended({.warmup = 1, .observations = 1000}, 0.05, 100, 6);
  CHECK_THAT(ranks[0].why, ContainsSubstring("stopped on request"));
  CHECK(ranks[0].launches == ranks[1].launches);
  CHECK(ranks[0].launches < 20);
}

TEST_CASE("ranks do not meet on the host within a block of short launches") {
  const auto ranks =
      ended({.warmup = 1, .observations = 20}, 1e-4, 100, 2510);      // 4 probes, 2500 of heat, 6 of the block
  CHECK_THAT(ranks[1].why, ContainsSubstring("stopped on request"));  // once the block has ended
  CHECK(ranks[1].launches >= 4 + 2499 + 21);
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
