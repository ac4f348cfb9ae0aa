#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/simulation/fused_arm.hpp>
#include <megaup/simulation/gemm_time.hpp>
#include <megaup/simulation/native_arms.hpp>
#include <megaup/simulation/pipeline.hpp>
#include <megaup/simulation/test_support/machines.hpp>

using namespace megaup;
using namespace megaup::simulation;
using namespace megaup::simulation::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

// Oracles: machines that go forward in time, wave by wave and part by part.
namespace {

/// One tile after the other leaves the multiprocessors; the link carries one wave's bytes at a time.
double pushed(const FusedWork& work) {
  double now = 0, link_free = 0;
  for (int wave = 0; wave < static_cast<int>(work.waves); ++wave) {
    now += work.compute / work.waves;
    link_free = std::max(now, link_free) + work.link / work.waves;
  }
  return link_free;
}

/// The link brings one wave's rows after the other; a wave multiplies what is its own, then waits.
double pulled(const FusedWork& work) {
  double now = 0, brought = 0;
  for (int wave = 0; wave < static_cast<int>(work.waves); ++wave) {
    brought += work.link / work.waves;
    now += work.own_share * work.compute / work.waves;
    now = std::max(now, brought);
    now += (1 - work.own_share) * work.compute / work.waves;
  }
  return now;
}

}  // namespace

TEST_CASE("the fused formulas are the recurrences of their waves") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> time(0.01, 10), share(0.05, 0.95);
  std::uniform_int_distribution<int> count(1, 60);
  for (int round = 0; round < 2000; ++round) {
    const FusedWork work{time(random), time(random), static_cast<double>(count(random)), share(random)};
    CAPTURE(work.compute, work.link, work.waves, work.own_share);
    CHECK(push_seconds(work) == Approx(pushed(work)));
    CHECK(pull_seconds(work) == Approx(pulled(work)));
  }
}

TEST_CASE("with an infinitely fast link, or on one rank, a fused arm is its GEMM") {
  Machine machine = plain_machine();
  machine.link_rate = figure(1e30);
  const double gemm = 2e-6 + 24 * (2.0 * 128 * 128 * 128 * 4096 / 500e12);  // 64 * 48 tiles on 128 multiprocessors
  CHECK(fused_time(machine, core::kQkvFwd, llama())->seconds == Approx(gemm + 3e-6));
  CHECK(fused_time(plain_machine(), core::kQkvFwd, llama(8192, 1))->seconds == Approx(gemm));
  machine.push->compute.value = 1.25;
  CHECK(fused_time(machine, core::kQkvFwd, llama())->seconds == Approx(1.25 * gemm + 3e-6));
}

TEST_CASE("a fused arm pays for the bytes of its last wave, or for the whole link") {
  Machine machine = plain_machine();
  const double gemm = 2e-6 + 24 * (2.0 * 128 * 128 * 128 * 4096 / 500e12);
  const double link = 0.5 * 2 * 8192 * 6144 / 400e9;
  CHECK(fused_time(machine, core::kQkvFwd, llama())->seconds == Approx(gemm + link / 24 + 3e-6));
  machine.push->link.value = 4;
  machine.link_rate = figure(40e9);
  CHECK(fused_time(machine, core::kQkvFwd, llama())->seconds == Approx(gemm / 24 + 40 * link + 3e-6));
}

TEST_CASE("a fused arm without factors or link rate is refused, and says which") {
  Machine machine = plain_machine();
  machine.pull.reset();
  CHECK(fused_time(machine, core::kQkvFwd, llama()));
  CHECK_THAT(fused_time(machine, core::kOutFwd, llama()).reason(), ContainsSubstring("pull"));
  machine.link_rate.reset();
  CHECK_THAT(fused_time(machine, core::kQkvFwd, llama()).reason(), ContainsSubstring("link_rate"));
}

TEST_CASE("a pipeline of one part is the sum of it, and of many the slowest stage with the ends of the others") {
  CHECK(pipeline_seconds({{1, 2, 3}}, 2) == 6);
  // Exchange-bound: 1 + 4 * 5 + 1.
  CHECK(pipeline_seconds({{1, 5, 1}, {1, 5, 1}, {1, 5, 1}, {1, 5, 1}}, 2) == 22);
  // Compute-bound: four GEMMs and two unpacks until 42, the last exchange until 44, beside it an unpack, then the last one.
  CHECK(pipeline_seconds({{10, 2, 1}, {10, 2, 1}, {10, 2, 1}, {10, 2, 1}}, 2) == Approx(45));
  // All packs first when enough may be in flight: packs 1, 2, 3; arrivals 3, 5, 7; unpacked 4, 6, 8.
  CHECK(pipeline_seconds({{1, 2, 1}, {1, 2, 1}, {1, 2, 1}}, 3) == 8);
}

TEST_CASE("no pipeline beats its link, its multiprocessors or its one part in sequence") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> time(0, 5);
  for (int round = 0; round < 500; ++round) {
    std::vector<PipelinePart> parts(1 + random() % 6);
    double link = 0, compute = 0;
    for (PipelinePart& part : parts) {
      part = {time(random), time(random), time(random)};
      link += part.exchange, compute += part.before + part.after;
    }
    for (const std::size_t in_flight : {1U, 2U, 4U}) {
      const double seconds = pipeline_seconds(parts, in_flight);
      CHECK(seconds >= parts.front().before + link + parts.back().after - 1e-12);
      CHECK(seconds >= compute - 1e-12);
      CHECK(seconds <= compute + link + 1e-12);
    }
    CHECK(pipeline_seconds(parts, 1) == Approx(compute + link));
  }
}

TEST_CASE("native_packed is the sum of its parts") {
  const Machine machine = plain_machine();
  const double gemm = 2e-6 + 16 * (2.0 * 128 * 128 * 128 * 4096 / 500e12);  // 64 * 32 tiles
  const double bytes = 2.0 * 8192 * 4096, pass = 5e-6 + 2 * bytes / 3e12;
  const double exchange = 10e-6 * std::pow(20.0, std::log(bytes / 1e6) / std::log(100.0));
  const auto arm = native_arm(machine, "native_packed");
  REQUIRE(arm);
  for (const auto& op : {core::kOutFwd, core::kOutDgrad})
    CHECK(native_time(machine, *arm, op, llama())->seconds == Approx(gemm + 2 * pass + exchange - 1e-6));
  // One kind of head: nothing to pipeline.
  const auto pipelined = native_arm(machine, "native_pipelined");
  CHECK(native_time(machine, *pipelined, core::kOutFwd, llama())->seconds == Approx(gemm + 2 * pass + exchange - 1e-6));
}

TEST_CASE("a gap below zero makes no arm faster than its GEMM or its exchange") {
  Machine machine = plain_machine();
  machine.gap = figure(-10);
  const auto time = native_time(machine, *native_arm(machine, "native_packed"), core::kQkvFwd, llama());
  REQUIRE(time);
  const auto gemm = gemm_time(machine, core::gemm_shape(core::kQkvFwd, llama()));
  CHECK(time->seconds >= gemm->seconds);
}

TEST_CASE("names of native arms say way and transport") {
  Machine machine = plain_machine();
  machine.default_transport = "pulled";
  CHECK(native_arm(machine, "native_packed")->transport == "pulled");
  CHECK(native_arm(machine, "native_packed_zero_cta")->transport == "nccl_zero_cta");
  CHECK(native_arm(machine, "native_packed_window")->transport == "nccl_window");
  CHECK(native_arm(machine, "native_chunked_ce")->transport == "copy_engine");
  CHECK(native_arm(machine, "native_chunked_ce")->way == NativeWay::chunked);
  for (const auto* name : {"fused", "gemm_only", "native", "native_packed_", "native_packed_dma"})
    CHECK_FALSE(native_arm(machine, name));
}

TEST_CASE("chunks have 1024 rows at least, and there are four at most") {
  CHECK(row_chunks(512) == 1);
  CHECK(row_chunks(1500) == 2);  // the last one short, as it is run
  CHECK(row_chunks(2048) == 2);
  CHECK(row_chunks(3000) == 3);
  CHECK(row_chunks(4096) == 4);
  CHECK(row_chunks(1 << 20) == 4);
}

TEST_CASE("more tokens are never faster, by any arm") {
  const Machine machine = plain_machine();
  for (const auto* name : {"native_packed", "native_packed_ce", "native_pipelined", "native_chunked"})
    for (const auto& op : core::kOperationForms) {
      double before = 0, fused_before = 0;
      for (std::int64_t tokens = 4096; tokens <= 65536; tokens += 1024) {
        const double seconds = native_time(machine, *native_arm(machine, name), op, llama(tokens))->seconds;
        const double fused = fused_time(machine, op, llama(tokens))->seconds;
        REQUIRE(seconds >= before);
        REQUIRE(fused >= fused_before * (1 - 1e-3));  // a further wave shortens the last one's transfer
        before = seconds, fused_before = fused;
      }
    }
}
