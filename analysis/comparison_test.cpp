#include <megaup/analysis/comparison.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/conclusions.hpp>
#include <megaup/analysis/test_support/cells.hpp>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
using namespace megaup::analysis;
using namespace megaup::analysis::test_support;
namespace core = megaup::core;

namespace {

Analysis analysis_of(std::string path, const std::vector<core::CellRecord>& cells,
                     std::map<std::string, std::string> environment = {{"host", "node-a"}}) {
  Analysis analysis;
  const auto header = blank_record(path);
  analysis.files.push_back(
      {.path = std::move(path), .source = "measured", .fabric = "host-memory", .environment = std::move(environment)});
  for (const auto& cell : cells)
    for (Row& row : cell_rows(header, cell)) {
      conclude(row, std::nullopt);
      analysis.rows.push_back(std::move(row));
    }
  return analysis;
}

core::CellRecord saving(const std::vector<double>& ms) {
  auto cell = blank_cell({"native_packed", "fused"},
                         ms.size() == 2 ? std::vector<std::uint8_t>{0, 1} : std::vector<std::uint8_t>{0, 1, 1, 0});
  for (std::size_t block = 0; block < ms.size(); ++block) fill(cell, 0, 1, block, 1 - ms[block]);
  return cell;
}

}  // namespace

TEST_CASE("the change of Delta is B - A, with Welch's interval where both sides have one") {
  // scipy: A has mean 0.11, se 0.0070711 (df 2); B mean 0.31, se 0.0212132 (df 2); Welch's df 2.44, rounded down to 2.
  const auto comparison = compare(analysis_of("a.h5", {saving({0.10, 0.10, 0.12, 0.12})}),
                                  analysis_of("b.h5", {saving({0.28, 0.28, 0.34, 0.34})}));
  REQUIRE(comparison.changes.size() == 1);
  CHECK_THAT(comparison.changes[0].change_ms, WithinAbs(0.2, 1e-9));
  const double half = 4.302652729911275 * std::sqrt(0.0070710678 * 0.0070710678 + 0.0212132034 * 0.0212132034);
  CHECK_THAT(comparison.changes[0].interval_ms->low, WithinAbs(0.2 - half, 1e-6));
  CHECK_THAT(comparison.changes[0].interval_ms->high, WithinAbs(0.2 + half, 1e-6));
  CHECK_THAT(print_comparison(comparison, 0), ContainsSubstring("B saves more"));
  CHECK_THAT(print_comparison(comparison, 0), ContainsSubstring("No difference in what the files say"));
}

TEST_CASE("two blocks give a change without an interval") {
  const auto comparison = compare(analysis_of("a.h5", {saving({0.1, 0.1})}), analysis_of("b.h5", {saving({0.3, 0.3})}));
  REQUIRE(comparison.changes.size() == 1);
  CHECK_FALSE(comparison.changes[0].interval_ms);
}

TEST_CASE("a changed host or driver marks the comparison, a changed job does not") {
  const auto a = analysis_of("a.h5", {saving({0.1, 0.1})},
                             {{"host", "node-a"}, {"driver", "570.1"}, {"variable_SLURM_JOB_ID", "1"}});
  const auto b = analysis_of("b.h5", {saving({0.1, 0.1})},
                             {{"host", "node-a"}, {"driver", "575.2"}, {"variable_SLURM_JOB_ID", "2"}});
  const auto json = nlohmann::json::parse(print_comparison_json(compare(a, b)));
  CHECK(json["marked"] == true);
  REQUIRE(json["environment"].size() == 2);
  CHECK(json["environment"][0]["name"] == "driver");
  CHECK(json["environment"][1]["marks"] == false);
  const std::string text = print_comparison(compare(a, b), 0);
  CHECK(text.find("570.1") < text.find("Delta A"));
  CHECK_THAT(text, ContainsSubstring("driver changed, so a change of Delta may be the machine's"));
  CHECK(nlohmann::json::parse(print_comparison_json(compare(a, a)))["marked"] == false);
}

TEST_CASE("rows without one partner with a Delta are named, not paired") {
  auto other = saving({0.1, 0.1});
  other.cp = 4;
  auto broken = saving({0.1, 0.1});
  broken.cp = 8;
  auto whole = broken;
  set(broken, 0, 0, 0, 0, 0, kNan);
  auto twin = saving({0.1, 0.1});
  const auto comparison = compare(analysis_of("a.h5", {twin, twin, other, broken}), analysis_of("b.h5", {twin, whole}));
  CHECK(comparison.changes.empty());
  REQUIRE(comparison.unpaired.size() == 4);
  CHECK_THAT(comparison.unpaired[0], ContainsSubstring("several cells"));
  CHECK_THAT(comparison.unpaired[2], ContainsSubstring("not in b.h5"));
  CHECK_THAT(comparison.unpaired[3], ContainsSubstring("NaN at qkv_fwd"));
}

TEST_CASE("cells that were measured in two ways, or have two layouts, are not compared, and it says why") {
  auto sustained = saving({0.10, 0.10, 0.12, 0.12}), spaced = sustained, other = sustained;
  sustained.extra["duty"] = std::string("sustained"), spaced.extra["duty"] = std::string("spaced");
  const auto duties = compare(analysis_of("a.h5", {sustained}), analysis_of("b.h5", {spaced}));
  CHECK(duties.changes.empty());
  REQUIRE(duties.unpaired.size() == 1);
  CHECK_THAT(duties.unpaired[0], ContainsSubstring("duty sustained in A, spaced in B"));
  other.extra["duty"] = std::string("sustained"), other.format = "thd";
  const auto layouts = compare(analysis_of("a.h5", {sustained}), analysis_of("b.h5", {other}));
  CHECK(layouts.changes.empty());
  REQUIRE(layouts.unpaired.size() == 1);
  CHECK_THAT(layouts.unpaired[0], ContainsSubstring("format"));
  CHECK(compare(analysis_of("a.h5", {sustained}), analysis_of("b.h5", {sustained})).changes.size() == 1);
}
