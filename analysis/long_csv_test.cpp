#include <megaup/analysis/long_csv.hpp>

#include <algorithm>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include <megaup/analysis/test_support/cells.hpp>

using namespace megaup::analysis;
using namespace megaup::analysis::test_support;

TEST_CASE("the long form has a line for each time, in seconds, and nothing for what was not taken") {
  auto cell = blank_cell({"native_packed", "fused"}, {0, 1}, 3, 2);
  cell.model = "=a,b";
  set(cell, 1, 1, 1, 2, 1, 0.25);
  set(cell, 0, 0, 0, 0, 1, kNan);
  std::string text;
  CHECK_FALSE(long_csv_cell(blank_record(), cell, [&](std::string_view part) { text += part; }));
  CHECK(std::count(text.begin(), text.end(), '\n') == 4 * 2 * 2 * 3 * 2);
  CHECK(text.starts_with(
      "run.h5,cell,\"'=a,b\",2,2048,measured,host-memory,measured,qkv_fwd,native_packed,0,initial,0,0,0.001\n"
      "run.h5,cell,\"'=a,b\",2,2048,measured,host-memory,measured,qkv_fwd,native_packed,0,initial,0,1,\n"));
  CHECK(text.find("out_fwd,fused,1,reversed,2,1,0.00025\n") != std::string::npos);
  const std::string titles = long_csv_titles();
  CHECK(std::count(titles.begin(), titles.end(), ',') == 14);
}

TEST_CASE("a cell without times gives no line but a reason") {
  auto cell = blank_cell();
  cell.fault = "latency: unit 'usec?'";
  CHECK(long_csv_cell(blank_record(), cell, [](std::string_view) { FAIL("a line"); }) == "latency: unit 'usec?'");
  cell = blank_cell();
  cell.latency.clear();
  cell.status = "refused";
  cell.reason = "too large";
  CHECK(long_csv_cell(blank_record(), cell, [](std::string_view) { FAIL("a line"); }) ==
        "it has no times: refused: too large");
}
