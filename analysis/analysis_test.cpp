#include <megaup/analysis/analysis.hpp>

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/analysis/grids.hpp>
#include <megaup/analysis/test_support/cells.hpp>
#include <megaup/core/error.hpp>
#include <megaup/core/record.hpp>

using namespace megaup;
using namespace megaup::analysis;
using namespace megaup::analysis::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

namespace fs = std::filesystem;

/// Files with answers that numpy, or a hand, worked out (tests/golden/README.md).
fs::path golden(const char* name) { return fs::path("tests") / "golden" / name; }

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "megaup-analysis-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path file(const char* name) const { return path_ / name; }
  fs::path write(const char* name, std::vector<core::CellRecord> cells, core::Record record = blank_record()) const {
    record.cells = std::move(cells);
    core::write_record(record, file(name), false);
    return file(name);
  }

 private:
  fs::path path_;
};

core::CellRecord cell_named(const char* id, std::int64_t cp) {
  auto cell = blank_cell();
  cell.id = id;
  cell.cp = cp;
  fill_arm(cell, 0, 2.0);
  return cell;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::map<std::string, Row> by_cell(const Analysis& analysis) {
  std::map<std::string, Row> rows;
  for (const Row& row : analysis.rows) CHECK(rows.emplace(row.cell, row).second);
  return rows;
}

void check_operations(const Row& row, const std::vector<double>& expected) {
  REQUIRE(row.operations.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(row.operations[i].delta_ms == Approx(expected[i]).margin(1e-8));
}

void check_delta(const Row& row, double expected) {
  REQUIRE(row.delta);
  CHECK(row.delta->delta_ms == Approx(expected).margin(1e-8));
}

void check_reason(const Row& row, const char* why) {
  CHECK_FALSE(row.delta);
  CHECK_THAT(row.reason, ContainsSubstring(why));
}

}  // namespace

TEST_CASE("golden: worked examples") {
  const auto analysis = analyze({.files = {golden("worked.h5")}});
  auto rows = by_cell(analysis);
  REQUIRE(rows.size() == 5);
  check_delta(rows["drift"], 11.25);
  check_operations(rows["drift"], {10.0, 1.0, 0.5, -0.25});
  CHECK(rows["drift"].delta->initial_ms == Approx(1.25));
  CHECK(rows["drift"].delta->reversed_ms == Approx(21.25));
  REQUIRE(rows["drift"].warnings.size() == 1);
  CHECK(rows["drift"].warnings[0].mark == "order warning");
  check_delta(rows["harm"], -0.2);
  CHECK_FALSE(budget_ms(rows["harm"]));
  CHECK(rows["harm"].warnings.empty());
  CHECK(budget_text(rows["harm"]) == "none: fused costs 0.200 ms");
  check_delta(rows["rankmax"], 2.0);
  check_delta(rows["even"], 19.5);
  check_delta(rows["spike"], 2.0);
  CHECK(rows["spike"].warnings.empty());
  CHECK(rows["spike"].cp == 8);
  CHECK(rows["spike"].source == "measured");
  CHECK(rows["spike"].fabric == "host-memory");
  CHECK(exit_status(analysis) == 0);
}

TEST_CASE("golden: rows that stay without a Delta") {
  const auto analysis = analyze({.files = {golden("incomplete.h5")}});
  auto rows = by_cell(analysis);
  REQUIRE(rows.size() == 8);
  check_delta(rows["good"], 4.0);
  check_reason(rows["no-reversed"], "reversed missing");
  CHECK(budget_text(rows["no-reversed"]) == "incomplete: reversed missing");
  check_reason(rows["nan"], "NaN at out_fwd, fused, block 0, observation 19, rank 0");
  check_reason(rows["three-operations"], "qkv_dgrad missing");
  check_reason(rows["one-arm"], "fused missing");
  check_reason(
      rows["zeros"],
      "times that are not positive at out_dgrad, native_packed, block 1, observation 22, rank 0 (and 35 more values)");
  check_reason(rows["negative"],
               "times that are not positive at qkv_fwd, native_packed, block 0, observation 3, rank 0");
  check_reason(rows["failed"], "validation: out_fwd rank 1, error 0.4 above 0.01");
  CHECK(rows["failed"].status == "failed");
  CHECK(exit_status(analysis) == 3);
}

TEST_CASE("golden: units are converted, an unknown one costs its cell") {
  const auto analysis = analyze({.files = {golden("units.h5")}});
  auto rows = by_cell(analysis);
  REQUIRE(rows.size() == 3);
  check_delta(rows["milliseconds"], 4.0);
  check_delta(rows["microseconds"], 4.0);
  check_reason(rows["unknown"], "unit 'usec?'");
}

TEST_CASE("golden: hostile names are read as they are") {
  const auto analysis = analyze({.files = {golden("hostile.h5")}});
  auto rows = by_cell(analysis);
  REQUIRE(rows.size() == 3);
  for (const auto& [cell, row] : rows) check_delta(row, 4.0);
  CHECK(rows["h1"].model == "</script><img src=x onerror=document.title=1>");
  CHECK(rows["h2"].model == "a\"b'c & <d>");
  CHECK(rows["h3"].model == "Modèle-ü-模型");
}

TEST_CASE("golden: eight blocks") {
  const auto analysis = analyze({.files = {golden("eight-blocks.h5")}});
  auto rows = by_cell(analysis);
  REQUIRE(rows.size() == 3);
  check_delta(rows["saving"], 0.342458472);
  check_operations(rows["saving"], {0.097547142, 0.070595194, 0.07265749, 0.101658645});
  check_delta(rows["nothing"], -0.003340613);
  check_operations(rows["nothing"], {0.001981797, -0.001540017, -0.001584649, -0.002197744});
  check_delta(rows["loss"], -0.16868616);
  check_operations(rows["loss"], {-0.052548238, -0.036896256, -0.034159336, -0.045082331});
}

TEST_CASE("golden: twins are kept apart by name and said") {
  const auto analysis = analyze({.files = {golden("twin-a.h5"), golden("twin-b.h5")}});
  REQUIRE(analysis.rows.size() == 2);
  for (const Row& row : analysis.rows) check_delta(row, 4.0);
  CHECK(analysis.rows[0].file != analysis.rows[1].file);
  REQUIRE(analysis.duplicates.size() == 1);
  CHECK_THAT(analysis.duplicates[0],
             ContainsSubstring("twin-a.h5 cells/same") && ContainsSubstring("twin-b.h5 cells/same"));
  CHECK(notes(analysis).back() == analysis.duplicates[0]);
}

TEST_CASE("an analysis leaves its files as they are") {
  const std::string before = bytes_of(golden("worked.h5"));
  (void)analyze({.files = {golden("worked.h5")}});
  CHECK(bytes_of(golden("worked.h5")) == before);
}

TEST_CASE("the same configuration twice in one file is refused with both places") {
  const Folder folder;
  auto slow = cell_named("first", 2), fast = cell_named("second", 2);
  fill_arm(slow, 0, 217.0), fill_arm(fast, 0, 0.052);
  const auto file = folder.write("twice.h5", {slow, fast});
  CHECK_THROWS_MATCHES(analyze({.files = {file}}), core::Error,
                       MessageMatches(ContainsSubstring("cells/first and cells/second")));

  const auto other = folder.write("other.h5", {cell_named("third", 4)});
  const auto analysis = analyze({.files = {file, other}, .keep_going = true});
  REQUIRE(analysis.rows.size() == 1);
  CHECK(analysis.rows[0].cell == "third");
  REQUIRE(analysis.bad_files.size() == 1);
  CHECK(exit_status(analysis) == 3);
}

TEST_CASE("protocols never meet: a cold fused and a warm native file make no Delta") {
  const Folder folder;
  auto native = cell_named("cell", 2), fused = native;
  for (core::CellRecord* half : {&native, &fused}) {
    *half = blank_cell({half == &native ? "native_packed" : "fused"});
    half->extra["cache"] = std::string(half == &native ? "warm" : "cold");
  }
  const auto analysis = analyze({.files = {folder.write("native.h5", {native}), folder.write("fused.h5", {fused})}});
  REQUIRE(analysis.rows.size() == 2);
  for (const Row& row : analysis.rows) CHECK_FALSE(row.delta);
}

TEST_CASE("two protocols in one file are two rows") {
  const Folder folder;
  auto warm = cell_named("warm", 2), cold = cell_named("cold", 2);
  warm.extra["cache"] = std::string("warm"), cold.extra["cache"] = std::string("cold");
  fill_arm(cold, 0, 3.0);
  auto rows = by_cell(analyze({.files = {folder.write("both.h5", {warm, cold})}}));
  check_delta(rows["warm"], 4.0);
  check_delta(rows["cold"], 8.0);
}

TEST_CASE("rows are sorted for reading, files stay in the order given") {
  const Folder folder;
  auto small = cell_named("z", 2), large = cell_named("a", 16), other = cell_named("m", 2);
  other.model = "gpt-3-175b";
  const auto analysis = analyze({.files = {folder.write("run.h5", {small, large, other})}});
  REQUIRE(analysis.rows.size() == 3);
  CHECK(analysis.rows[0].cell == "m");
  CHECK(analysis.rows[1].cell == "z");
  CHECK(analysis.rows[2].cell == "a");
}

TEST_CASE("a filter keeps what it names, and leaving nothing is a mistake") {
  const Folder folder;
  const auto file = folder.write("run.h5", {cell_named("two", 2), cell_named("four", 4), cell_named("eight", 8)});
  const auto analysis = analyze({.files = {file}, .filter = Filter({"cp=2,cp=8"})});
  CHECK(analysis.rows.size() == 2);
  CHECK_THROWS_MATCHES(analyze({.files = {file}, .filter = Filter({"cp=3"})}), core::Error,
                       MessageMatches(ContainsSubstring("leaves no row")));
}

TEST_CASE("a file that cannot be used stops, or is skipped by choice") {
  const Folder folder;
  const auto good = folder.write("good.h5", {cell_named("cell", 2)});
  const auto bad = folder.file("bad.h5");
  const std::string whole = bytes_of(good);
  const std::string content =
      GENERATE_COPY(std::string(), std::string("no result"), whole.substr(0, 100), whole.substr(0, whole.size() / 2));
  std::ofstream(bad, std::ios::binary) << content;
  CHECK_THROWS_MATCHES(analyze({.files = {bad, good}}), core::Error, MessageMatches(ContainsSubstring("bad.h5")));
  const auto analysis = analyze({.files = {bad, good}, .keep_going = true});
  CHECK(analysis.rows.size() == 1);
  REQUIRE(analysis.bad_files.size() == 1);
  CHECK_THAT(analysis.bad_files[0], ContainsSubstring("bad.h5"));
  CHECK(exit_status(analysis) == 3);
}

TEST_CASE("questions that cannot be answered") {
  CHECK_THROWS_AS(analyze({}), core::Error);
  CHECK_THROWS_MATCHES(analyze({.files = {golden("worked.h5"), golden("../golden/worked.h5")}}), core::Error,
                       MessageMatches(ContainsSubstring("given twice")));
  CHECK_THROWS_AS(analyze({.files = {golden("worked.h5")}, .assumptions = {.step_ms = 1.0, .unchanged_ms = 1.0}}),
                  core::Error);
}

TEST_CASE("no cells is no success") {
  const Folder folder;
  const auto analysis = analyze({.files = {folder.write("empty.h5", {})}});
  CHECK(analysis.rows.empty());
  CHECK(exit_status(analysis) == 3);
}
