#include <megaup/ops/head_runs.hpp>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/matrix.hpp>

namespace megaup::ops {
namespace {

core::Problem problem(core::QkvWeight weight, std::int64_t P = 2) {
  return {.P = P, .B = 1, .s = 4, .H = 1, .Hq = 8, .Hk = 2, .D = 64, .qkv_weight = weight, .kv_replication = P > 2};
}

TEST_CASE("grouped heads of one destination are one run; concatenated ones are three") {
  const core::HeadLayout grouped{problem(core::QkvWeight::grouped), core::Columns::qkv};
  REQUIRE(wide_runs(grouped, 1).size() == 1);
  CHECK(wide_runs(grouped, 1)[0].wide == 384);
  CHECK(wide_runs(grouped, 1)[0].columns == 384);
  const core::HeadLayout concatenated{problem(core::QkvWeight::concatenated), core::Columns::qkv};
  const auto runs = wide_runs(concatenated, 1);
  REQUIRE(runs.size() == 3);
  CHECK((runs[0].wide == 256 && runs[0].slab == 0 && runs[0].columns == 256));
  CHECK((runs[1].wide == 576 && runs[1].slab == 256 && runs[1].columns == 64));
  CHECK((runs[2].wide == 704 && runs[2].slab == 320 && runs[2].columns == 64));
}

TEST_CASE("runs of one kind leave out the others") {
  const core::HeadLayout layout{problem(core::QkvWeight::grouped), core::Columns::qkv};
  CHECK(slab_columns(layout) == 384);
  CHECK(slab_columns(layout, core::Head::value) == 64);
  const auto runs = wide_runs(layout, 1, core::Head::value);
  REQUIRE(runs.size() == 1);
  CHECK((runs[0].wide == 704 && runs[0].slab == 0 && runs[0].columns == 64));
  const auto tensors = tensor_runs(layout, 1, core::Head::value);
  REQUIRE(tensors.size() == 1);
  CHECK((tensors[0].kind == core::Head::value && tensors[0].local == 0 && tensors[0].slab == 0));
}

TEST_CASE("home runs cover the wide matrix once, and every copy of a replicated head") {
  for (const auto weight : {core::QkvWeight::grouped, core::QkvWeight::concatenated})
    for (const std::int64_t P : {1, 2, 4, 8}) {
      const core::HeadLayout layout{problem(weight, P), core::Columns::qkv};
      std::int64_t next = 0, copies = 0;
      for (const HomeRun& run : home_runs(layout)) {
        CHECK(run.wide == next);
        next += run.columns;
        copies += run.copies * run.columns;
      }
      CHECK(next == layout.width());
      CHECK(copies == P * layout.slab_width());
    }
}

TEST_CASE("offsets do not wrap: row width 10240, S = 262144") {
  const core::Problem p{.P = 8, .B = 1, .s = 32768, .H = 8192, .Hq = 64, .Hk = 8, .D = 128};
  const core::HeadLayout layout{p, core::Columns::qkv};
  CHECK(layout.width() == 10240);
  const core::Bf16Matrix wide{nullptr, p.S(), layout.width(), layout.width()};
  CHECK((wide.rows - 1) * wide.ld + wide.columns - 1 == 2684354559);
  CHECK(destination_rows(p, 7).back() == 262143);
  CHECK(core::head_offset(destination_rows(p, 7).back(), 80, 79, 128, 127) == 2684354559);
}

}  // namespace
}  // namespace megaup::ops
