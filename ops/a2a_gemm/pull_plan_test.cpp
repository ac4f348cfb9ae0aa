#include <megaup/ops/a2a_gemm/pull_plan.hpp>

#include <algorithm>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace megaup::ops;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t kSms = 132;  // of an H200

GemmShape shape(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.m = m, .n = n, .k = k, .weight_transposed = true};
}

}  // namespace

TEST_CASE("a pull plan has one choice, and a reason for every other candidate") {
  for (const Regime regime : {Regime::sustained, Regime::spaced})
    for (const auto& gemm : {shape(8192, 4096, 4096), shape(32768, 4096, 6144), shape(2048, 5120, 8192),
                             shape(8192, 16384, 18432), shape(128, 128, 64)}) {
      const PullPlan plan = plan_pull(gemm, gemm.m, {regime, kSms});
      REQUIRE_FALSE(plan.refused);
      CHECK(std::ranges::count_if(plan.candidates, [](const auto& candidate) { return !candidate.rejected; }) == 1);
      for (const PullCandidate& candidate : plan.candidates) {
        CHECK(candidate.microseconds >= plan.chosen().microseconds);
        if (candidate.rejected) CHECK_FALSE(candidate.rejected->empty());
      }
    }
}

TEST_CASE("the moves of a pull fit its rows, its flags and its units") {
  for (const std::int64_t run : {128, 256, 384, 512, 1024, 8192})
    for (const std::int64_t n : {512, 4096, 5120, 16384})
      for (const PullCandidate& candidate :
           plan_pull(shape(run * 3, n, 4096), run, {Regime::spaced, kSms}).candidates) {
        const PullMoves& moves = candidate.moves;
        CHECK(run % moves.block_rows == 0);
        CHECK(moves.group_rows % moves.block_rows == 0);
        for (const std::int64_t unit : {moves.first_unit, moves.unit}) {
          CHECK(unit % 2048 == 0);
          CHECK(moves.block_rows * 128 % unit ==
                0);  // a unit lies in one tensor: 64 columns of a block are 128 bytes a row
        }
      }
}

TEST_CASE("a group of a pull holds the rows that a wave of tiles touches") {
  const auto group = [](std::int64_t n, std::string_view kernel, int swizzle) {
    const PullPlan plan = plan_pull(shape(8192, n, 4096), 8192, {Regime::spaced, kSms});
    return std::ranges::find_if(
               plan.candidates,
               [&](const auto& candidate) { return candidate.kernel->name == kernel && candidate.swizzle == swizzle; })
        ->moves.group_rows;
  };
  CHECK(group(4096, "c128x256", 1) == 5 * 256);  // 132 tiles are 4.1 bands of 2 x 16 tiles
  CHECK(group(4096, "c128x256", 2) == 3 * 512);
  CHECK(group(16384, "c128x256", 1) == 2 * 256);
  CHECK(group(16384, "c128x256", 4) == 1024);
}

TEST_CASE("the measured favourites of the pull are chosen") {
  const auto chosen = [](const GemmShape& gemm, Regime regime) {
    const PullPlan plan = plan_pull(gemm, gemm.m, {regime, kSms});
    return std::string(plan.chosen().kernel->name) + "/" + std::to_string(plan.chosen().swizzle);
  };
  CHECK(chosen(shape(8192, 4096, 4096), Regime::sustained) == "c128x256/2");
  CHECK(chosen(shape(8192, 4096, 4096), Regime::spaced) == "c128x256/2");
  CHECK(chosen(shape(2048, 4096, 4096), Regime::sustained) == "c128x256/2");
  CHECK(chosen(shape(2048, 4096, 6144), Regime::sustained) == "c128x256/2");
  CHECK(chosen(shape(8192, 16384, 18432), Regime::spaced) == "c256x192/4");
  CHECK(chosen(shape(2048, 5120, 8192), Regime::spaced) == "pp128x128/2");
  CHECK(chosen(shape(8192, 12288, 12288), Regime::spaced) == "c256x192/4");
  CHECK(chosen(shape(8192, 8192, 8192), Regime::sustained) == "c128x256/4");
}

TEST_CASE("a tile of a pull has rows of one run and of one flag") {
  for (const PullCandidate& candidate : plan_pull(shape(8192, 12288, 12288), 128, {Regime::spaced, kSms}).candidates)
    CHECK(candidate.kernel->tile_m == 128);
  for (const PullCandidate& candidate : plan_pull(shape(8192, 12288, 12288), 8192, {Regime::spaced, kSms}).candidates)
    CHECK(candidate.moves.block_rows % candidate.kernel->tile_m == 0);
}

TEST_CASE("shapes that no pull kernel can run are refused with their numbers") {
  const auto reason = [](const GemmShape& gemm, std::int64_t run, std::int64_t sms) {
    return plan_pull(gemm, run, {Regime::sustained, sms}).refused.value_or("");
  };
  CHECK_THAT(reason(shape(0, 128, 64), 128, kSms), ContainsSubstring("0 x 128 x 64"));
  CHECK_THAT(reason(shape(8192, 4096, 4100), 128, kSms), ContainsSubstring("4100"));
  CHECK_THAT(reason(shape(8192, 4100, 4096), 128, kSms), ContainsSubstring("n = 4100"));
  CHECK_THAT(reason(shape(8192, 4096, 4096), 192, kSms), ContainsSubstring("runs of 192"));
  CHECK_THAT(reason(shape(640, 4096, 4096), 256, kSms), ContainsSubstring("640 rows in runs of 256"));
  CHECK_THAT(reason(shape(8192, 4096, 4096), 8192, 1), ContainsSubstring("1 SMs"));
}

TEST_CASE("every kernel and order of a pull can be asked for, and the others say so") {
  for (const PullKernel& kernel : pull_kernels())
    for (const TileOrder& order : pull_orders()) {
      CHECK(order.name == std::string(name(order.raster)) + std::to_string(order.swizzle));
      CHECK(order.raster == Raster::along_n);
      const KernelWish wish{std::string(kernel.name), std::string(order.name)};
      const PullPlan plan =
          plan_pull(shape(8192, 4096, 4096), 8192, {.sms = kSms, .architecture = kernel.architecture}, wish);
      REQUIRE_FALSE(plan.refused);
      CHECK(plan.chosen().kernel->name == kernel.name);
      CHECK(plan.chosen().swizzle == order.swizzle);
      for (const PullCandidate& candidate : plan.candidates)
        if (&candidate != &plan.chosen()) CHECK(candidate.rejected == "the spec asks for " + text(wish));
    }
}

TEST_CASE("a pull that the shape cannot have is refused, with what it can have") {
  const auto reason = [](const GemmShape& gemm, std::int64_t run, const KernelWish& wish) {
    return plan_pull(gemm, run, {Regime::spaced, kSms}, wish).refused.value_or("");
  };
  CHECK(reason(shape(256, 512, 4096), 256, {"c128x256", "N4"}) ==
        "the spec asks for c128x256/N4: this shape's grid of tiles has no order N4; there are N2, N1");
  CHECK(reason(shape(8192, 4096, 4096), 128, {"c256x192", ""}) ==
        "the spec asks for c256x192: its tiles of 256 rows do not divide the runs of 128 rows; c128x256, pp128x192, "
        "pp128x128 have tiles that do");
  CHECK(reason(shape(8192, 4096, 4096), 128, {"c64x64", ""}) ==
        "the spec asks for c64x64: no kernel c64x64 runs this shape; there are c128x256, pp128x192, pp128x128");
  CHECK(reason(shape(8192, 4096, 4096), 256, {"c256x192", "N1"}).empty());
}

TEST_CASE("a pull plan prints every candidate and marks its choice") {
  const PullPlan plan = plan_pull(shape(8192, 4096, 4096), 8192, {Regime::sustained, kSms});
  const std::string out = text(plan);
  CHECK(std::ranges::count(out, '\n') == static_cast<std::ptrdiff_t>(plan.candidates.size()) + 1);
  CHECK_THAT(out, ContainsSubstring("8192 x 4096 x 4096 TN on 132 SMs, sustained, peers over a link: auto\n"));
  CHECK_THAT(out, ContainsSubstring("  pp128x128/N4 "));
  CHECK_THAT(out, ContainsSubstring("groups of"));
  CHECK_THAT(out, ContainsSubstring("CHOSEN"));
  CHECK_THAT(out, ContainsSubstring("us slower"));
}

namespace {

PullPlan blackwell(const GemmShape& gemm, std::int64_t run_rows, const KernelWish& wish = {}) {
  return plan_pull(gemm, run_rows, {.sms = 148, .architecture = Architecture::sm_100a}, wish);
}

}  // namespace

TEST_CASE("a pull plan has kernels of the device's architecture alone") {
  for (const Architecture architecture : {Architecture::sm_90a, Architecture::sm_100a}) {
    const PullPlan plan = plan_pull(shape(8192, 4096, 4096), 8192, {.sms = kSms, .architecture = architecture});
    REQUIRE_FALSE(plan.refused);
    for (const PullCandidate& candidate : plan.candidates) CHECK(candidate.kernel->architecture == architecture);
  }
}

TEST_CASE("pulls whose rates nobody measured are chosen by their waves, and no time is invented") {
  const PullPlan plan = blackwell(shape(8192, 4608, 4096), 8192);  // 18 columns: bands of 4 round them up
  REQUIRE_FALSE(plan.refused);
  CHECK(plan.chosen().order == "N2");
  for (const PullCandidate& candidate : plan.candidates) {
    CHECK(candidate.microseconds == 0);
    CHECK(candidate.waves >= plan.chosen().waves);
    CHECK(candidate.moves.group_rows % candidate.moves.block_rows == 0);
  }
  CHECK_THAT(text(plan), ContainsSubstring("on 148 SMs of sm_100a, sustained, peers over a link: auto\n"
                                           "  sm_100a: compiled, never run on a device; rates not measured\n"));
  CHECK_THAT(text(plan), ContainsSubstring("waves         ? us  CHOSEN"));
}

TEST_CASE("blocks of a pull that share a tile wait for rows of their own, so runs of 128 rows will do") {
  REQUIRE_FALSE(blackwell(shape(8192, 4096, 4096), 128).refused);
  CHECK(blackwell(shape(8192, 4096, 4096), 128).chosen().moves.block_rows == 128);
}

TEST_CASE("a pull kernel for another architecture is refused by name, with those that there are") {
  CHECK(blackwell(shape(8192, 4096, 4096), 8192, {"c128x256", "N2"}).refused ==
        "the spec asks for c128x256/N2: kernel c128x256 is for sm_90a, and this device is of sm_100a, for which there "
        "are "
        "2sm256x256");
  const PullPlan hopper = plan_pull(shape(8192, 4096, 4096), 8192, {.sms = kSms}, {"2sm256x256", ""});
  CHECK_THAT(hopper.refused.value_or(""), ContainsSubstring("kernel 2sm256x256 is for sm_100a"));
}
