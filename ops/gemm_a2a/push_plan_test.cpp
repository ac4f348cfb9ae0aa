#include <megaup/ops/gemm_a2a/push_plan.hpp>

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

std::int64_t chosen_count(const PushPlan& plan) {
  return std::ranges::count_if(plan.candidates, [](const PushCandidate& candidate) { return !candidate.rejected; });
}

}  // namespace

TEST_CASE("a push plan has one choice, and a reason for every other candidate") {
  for (const Regime regime : {Regime::sustained, Regime::spaced})
    for (const auto& gemm : {shape(8192, 6144, 4096), shape(32768, 4096, 4096), shape(2048, 10240, 5120),
                             shape(8192, 4608, 4096), shape(128, 128, 64)}) {
      const PushPlan plan = plan_push(gemm, {regime, kSms});
      REQUIRE_FALSE(plan.refused);
      CHECK(chosen_count(plan) == 1);
      for (const PushCandidate& candidate : plan.candidates) {
        CHECK(candidate.microseconds >= plan.chosen().microseconds);
        if (candidate.rejected) CHECK_FALSE(candidate.rejected->empty());
      }
    }
}

TEST_CASE("push tiles cover every column, whatever the width") {
  for (std::int64_t n = 64; n <= 18432; n += 64)
    for (const PushCandidate& candidate : plan_push(shape(8192, n, 4096), {Regime::spaced, kSms}).candidates) {
      const std::int64_t tiles_m = 8192 / candidate.kernel->tile_m;
      CHECK(candidate.tiles >= tiles_m * ((n + candidate.kernel->tile_n - 1) / candidate.kernel->tile_n));
      CHECK(candidate.tiles % (candidate.kernel->cluster_m * candidate.kernel->cluster_n) == 0);
    }
}

TEST_CASE("the tiles of a push count those that only round the grid up") {
  const PushPlan plan = plan_push(shape(8192, 4608, 4096), {Regime::spaced, kSms});
  const auto find = [&](std::string_view kernel, int swizzle) {
    return *std::ranges::find_if(plan.candidates, [&](const PushCandidate& candidate) {
      return candidate.kernel->name == kernel && candidate.swizzle == swizzle && candidate.raster == Raster::along_n;
    });
  };
  CHECK(find("c128x256", 8).tiles == 64 * 24);  // 18 tiles of 256 columns become 24
  CHECK(find("c128x256", 2).tiles == 64 * 18);
  CHECK(find("pp128x192", 8).tiles == 64 * 24);  // 24 of 192 are a multiple of 8 already
  CHECK(find("c128x256", 2).microseconds < find("c128x256", 8).microseconds);
}

TEST_CASE("a wave that is begun costs most of a whole one") {
  const auto time = [](std::int64_t sms) {
    return plan_push(shape(8192, 6144, 4096), {Regime::spaced, sms}).candidates.front();
  };
  CHECK(time(132).waves < 12);
  CHECK(time(128).waves == 12);
  CHECK(time(124).waves > 12);
  CHECK(time(124).microseconds > 1.03 * time(128).microseconds);  // a thirteenth wave
  CHECK(time(132).microseconds > 1.01 * time(128).microseconds);  // a twelfth that is not full
}

TEST_CASE("the measured favourites are chosen") {
  const auto chosen = [](const GemmShape& gemm, Regime regime, Peers peers = Peers::linked) {
    const PushPlan plan = plan_push(gemm, {regime, kSms, peers});
    return std::string(plan.chosen().kernel->name) + "/" + std::string(plan.chosen().order);
  };
  CHECK(chosen(shape(8192, 6144, 4096), Regime::sustained) == "pp128x192/N2");
  CHECK(chosen(shape(8192, 4096, 4096), Regime::sustained) == "pp128x128/N2");
  CHECK(chosen(shape(8192, 10240, 5120), Regime::sustained) == "pp128x128/N2");
  CHECK(chosen(shape(8192, 8192, 5120), Regime::sustained) == "pp128x192/N1");
  CHECK(chosen(shape(8192, 8192, 8192), Regime::sustained) == "pp128x192/N1");
  CHECK(chosen(shape(8192, 6144, 4096), Regime::spaced) == "c256x192/N1");
  CHECK(chosen(shape(8192, 4096, 4096), Regime::spaced) == "c128x256/N1");
  CHECK(chosen(shape(8192, 8192, 5120), Regime::spaced) == "pp128x192/S4");
  CHECK(chosen(shape(8192, 18432, 16384), Regime::spaced)
            .starts_with("c256x192/"));  // a long k costs small tiles the cache
}

TEST_CASE("stores over a link want narrow bands of tiles, which the cache of one device does not") {
  for (const auto& gemm : {shape(8192, 6144, 4096), shape(8192, 4096, 4096), shape(2048, 6144, 4096)}) {
    CHECK(plan_push(gemm, {Regime::sustained, kSms, Peers::linked}).chosen().swizzle <= 2);
    CHECK(plan_push(gemm, {Regime::sustained, kSms, Peers::same_device}).chosen().swizzle >= 4);
  }
}

TEST_CASE("a narrow grid gets no wide swizzle") {
  for (const PushCandidate& candidate : plan_push(shape(256, 512, 4096), {Regime::sustained, kSms}).candidates)
    CHECK(candidate.swizzle <= 2);
}

TEST_CASE("shapes that no push kernel can run are refused with their numbers") {
  const auto reason = [](const GemmShape& gemm, std::int64_t sms) {
    return plan_push(gemm, {Regime::sustained, sms}).refused.value_or("");
  };
  CHECK_THAT(reason(shape(0, 128, 64), kSms), ContainsSubstring("0 x 128 x 64"));
  CHECK_THAT(reason(shape(8192, 6144, 4100), kSms), ContainsSubstring("4100"));
  CHECK_THAT(reason(shape(8192, 6144, 32), kSms), ContainsSubstring("k = 32"));
  CHECK_THAT(reason(shape(8192, 352, 4096), kSms), ContainsSubstring("352"));
  CHECK_THAT(reason(shape(8192, 6144, 4096), 1), ContainsSubstring("1 SMs"));
}

TEST_CASE("a push plan names its orders by raster and swizzle") {
  for (const TileOrder& order : push_orders())
    CHECK(order.name == std::string(name(order.raster)) + std::to_string(order.swizzle));
  for (const PushCandidate& candidate : plan_push(shape(8192, 6144, 4096), {Regime::spaced, kSms}).candidates)
    CHECK(candidate.order == std::string(name(candidate.raster)) + std::to_string(candidate.swizzle));
}

TEST_CASE("every kernel and order of a push can be asked for, and the others say so") {
  for (const PushKernel& kernel : push_kernels())
    for (const TileOrder& order : push_orders()) {
      const KernelWish wish{std::string(kernel.name), std::string(order.name)};
      const PushPlan plan =
          plan_push(shape(8192, 6144, 4096), {.sms = kSms, .architecture = kernel.architecture}, wish);
      REQUIRE_FALSE(plan.refused);
      CHECK(chosen_count(plan) == 1);
      CHECK(plan.chosen().kernel->name == kernel.name);
      CHECK(plan.chosen().raster == order.raster);
      CHECK(plan.chosen().swizzle == order.swizzle);
      for (const PushCandidate& candidate : plan.candidates)
        if (&candidate != &plan.chosen()) CHECK(candidate.rejected == "the spec asks for " + text(wish));
    }
}

TEST_CASE("what a wish leaves open is chosen by time") {
  const auto best = [](const KernelWish& wish, const auto& fits) {
    const PushPlan plan = plan_push(shape(8192, 6144, 4096), {Regime::sustained, kSms}, wish);
    REQUIRE_FALSE(plan.refused);
    CHECK(fits(plan.chosen()));
    for (const PushCandidate& candidate : plan.candidates)
      if (fits(candidate)) CHECK(candidate.microseconds >= plan.chosen().microseconds);
  };
  best({.kernel = "c128x256"}, [](const auto& candidate) { return candidate.kernel->name == "c128x256"; });
  best({.order = "M4"}, [](const auto& candidate) { return candidate.order == "M4"; });
}

TEST_CASE("a push that the shape cannot have is refused, with what it can have") {
  const auto reason = [](const KernelWish& wish) {
    const PushPlan plan = plan_push(shape(256, 512, 4096), {Regime::sustained, kSms}, wish);
    CHECK((chosen_count(plan) == 0) == plan.refused.has_value());
    return plan.refused.value_or("");
  };
  CHECK(reason({"pp128x128", "N8"}) ==
        "the spec asks for pp128x128/N8: this shape's grid of tiles has no order N8; there are N2, N1, M2, M1, S2, S1");
  CHECK(reason({"", "M8"}) ==
        "the spec asks for auto/M8: this shape's grid of tiles has no order M8; there are N2, N1, M2, M1, S2, S1");
  CHECK(
      reason({"c64x64", ""}) ==
      "the spec asks for c64x64: no kernel c64x64 runs this shape; there are c128x256, c256x192, pp128x192, pp128x128");
  CHECK(reason({"pp128x128", "N2"}).empty());
}

TEST_CASE("a push plan prints every candidate and marks its choice") {
  const PushPlan plan = plan_push(shape(8192, 4096, 4096), {Regime::sustained, kSms});
  const std::string out = text(plan);
  CHECK(std::ranges::count(out, '\n') == static_cast<std::ptrdiff_t>(plan.candidates.size()) + 1);
  CHECK_THAT(out, ContainsSubstring("8192 x 4096 x 4096 TN on 132 SMs, sustained, peers over a link: auto\n"));
  CHECK_THAT(out, ContainsSubstring("  pp128x128/N8 "));
  CHECK_THAT(out, ContainsSubstring("CHOSEN"));
  CHECK_THAT(out, ContainsSubstring("us slower"));
  const std::string refused = text(plan_push(shape(256, 512, 4096), {Regime::sustained, kSms}, {"pp128x128", "N8"}));
  CHECK_THAT(refused, ContainsSubstring("peers over a link: pp128x128/N8\n"));
  CHECK_THAT(refused, ContainsSubstring("  refused: the spec asks for pp128x128/N8"));
  CHECK_THAT(refused, !ContainsSubstring("CHOSEN"));
}

TEST_CASE("kernels with plain stores are there to compare with: a plan has them only where they are asked for") {
  const auto plain = [](const PushCandidate& candidate) { return candidate.kernel->store == Store::plain; };
  const PushPlan plan = plan_push(shape(8192, 6144, 4096), {Regime::sustained, kSms});
  CHECK(std::ranges::none_of(plan.candidates, plain));
  const PushPlan asked = plan_push(shape(8192, 6144, 4096), {Regime::sustained, kSms}, {"pp128x192_plain", "N8"});
  REQUIRE(!asked.refused);
  CHECK(asked.chosen().kernel->name == "pp128x192_plain");
  CHECK(asked.chosen().kernel->store == Store::plain);
}

namespace {

PushPlan blackwell(const GemmShape& gemm, const KernelWish& wish = {}) {
  return plan_push(gemm, {.sms = 148, .architecture = Architecture::sm_100a}, wish);
}

}  // namespace

TEST_CASE("a push plan has kernels of the device's architecture alone") {
  for (const Architecture architecture : {Architecture::sm_90a, Architecture::sm_100a}) {
    const PushPlan plan = plan_push(shape(8192, 6144, 4096), {.sms = kSms, .architecture = architecture});
    REQUIRE_FALSE(plan.refused);
    CHECK(chosen_count(plan) == 1);
    for (const PushCandidate& candidate : plan.candidates) CHECK(candidate.kernel->architecture == architecture);
  }
}

TEST_CASE("pushes whose rates nobody measured are chosen by their waves, and no time is invented") {
  // 18 columns of tiles: bands of 8 and 4 columns round them up, those of 2 do not.
  const PushPlan plan = blackwell(shape(8192, 4608, 4096));
  REQUIRE_FALSE(plan.refused);
  CHECK(plan.chosen().order == "N2");
  CHECK(plan.chosen().tiles == 64 * 18);
  for (const PushCandidate& candidate : plan.candidates) {
    CHECK_FALSE(candidate.kernel->measured());
    CHECK(candidate.microseconds == 0);
    CHECK(candidate.waves >= plan.chosen().waves);
  }
  const std::string out = text(plan);
  CHECK_THAT(out, ContainsSubstring("4096 TN on 148 SMs of sm_100a, sustained, peers over a link: auto\n"
                                    "  sm_100a: compiled, never run on a device; rates not measured\n"));
  CHECK_THAT(out, ContainsSubstring("waves         ? us  CHOSEN"));
  CHECK_THAT(out, ContainsSubstring("as many waves, but a later row of the table"));
  CHECK_THAT(out, ContainsSubstring(" waves more"));
  CHECK_THAT(out, !ContainsSubstring("us slower"));
}

TEST_CASE("the halves of a tile that two SMs multiply are counted as what each of them stores") {
  const PushPlan plan = blackwell(shape(8192 + 128, 256, 4096), {"2sm256x256", "N1"});
  REQUIRE_FALSE(plan.refused);
  CHECK(plan.chosen().tiles == 66);  // 33 tiles of 256 x 256, the last half beyond the matrix
}

TEST_CASE("a push kernel for another architecture is refused by name, with those that there are") {
  const auto reason = [](const KernelWish& wish) {
    return blackwell(shape(8192, 6144, 4096), wish).refused.value_or("");
  };
  CHECK(
      reason({"pp128x192", "N8"}) ==
      "the spec asks for pp128x192/N8: kernel pp128x192 is for sm_90a, and this device is of sm_100a, for which there "
      "are 2sm256x256");
  CHECK_THAT(reason({"c128x256_plain", ""}), ContainsSubstring("kernel c128x256_plain is for sm_90a"));
  CHECK(reason({"2sm256x256", ""}).empty());
  const PushPlan hopper = plan_push(shape(8192, 6144, 4096), {.sms = kSms}, {"2sm256x256", ""});
  CHECK_THAT(hopper.refused.value_or(""), ContainsSubstring("kernel 2sm256x256 is for sm_100a"));
  CHECK(hopper.candidates.empty());
}
