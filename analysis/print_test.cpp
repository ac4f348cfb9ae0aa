#include <megaup/analysis/print.hpp>

#include <clocale>
#include <locale>
#include <set>
#include <sstream>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/grids.hpp>
#include <megaup/analysis/test_support/cells.hpp>
#include <megaup/analysis/text.hpp>

using namespace megaup;
using namespace megaup::analysis;
using namespace megaup::analysis::test_support;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

void add(Analysis& analysis, const core::CellRecord& cell, const core::Record& record = blank_record()) {
  for (Row& row : cell_rows(record, cell)) analysis.rows.push_back(std::move(row));
}

/// A saving, a loss and a row without Delta.
Analysis three_rows() {
  Analysis analysis;
  analysis.files = {{"run.h5", "measured", "host-memory", "2026-11-29T12:00:00Z", "0.1.0", std::string(40, '0'),
                     "node-a", "host", "threads"}};
  auto cell = blank_cell();
  fill_arm(cell, 0, 2.0);
  cell.id = "saving";
  add(analysis, cell);
  fill_arm(cell, 0, 1.0), fill_arm(cell, 1, 1.05);
  cell.id = "loss", cell.cp = 4;
  add(analysis, cell);
  auto half = blank_cell({"native_packed", "fused"}, {0});
  half.id = "half", half.cp = 8;
  add(analysis, half);
  return analysis;
}

Analysis named(const std::string& model) {
  Analysis analysis;
  auto cell = blank_cell();
  cell.model = model;
  add(analysis, cell);
  return analysis;
}

/// Fields of RFC 4180 records with LF line ends.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
      records.back().back() += text[i++];
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == ',')
      records.back().emplace_back();
    else if (!quoted && text[i] == '\n')
      records.emplace_back(1);
    else
      records.back().back() += text[i];
  }
  records.pop_back();
  return records;
}

std::string csv_field(const Analysis& analysis, std::size_t row, const std::string& title) {
  const auto records = parse_csv(print_csv(analysis));
  for (std::size_t i = 0; i < records[0].size(); ++i)
    if (records[0][i] == title) return records.at(row + 1).at(i);
  FAIL("no column " << title);
  return {};
}

}  // namespace

TEST_CASE("the table shows Delta with its sign, the budget or its absence, and the caveats") {
  const std::string text = print_table(three_rows(), {});
  CHECK_THAT(text, ContainsSubstring("+4.00"));
  CHECK_THAT(text, ContainsSubstring("4.00 ms\n"));
  CHECK_THAT(text, ContainsSubstring("-0.200"));
  CHECK_THAT(text, ContainsSubstring("none: fused costs 0.200 ms"));
  CHECK_THAT(text, ContainsSubstring("incomplete: reversed missing"));
  CHECK_THAT(text, ContainsSubstring("3 rows: 1 with a budget, 1 without (Delta <= 0), 1 without a Delta"));
  for (const char* caveat :
       {"not a pooled raw-sample median", "not a confidence interval", "not a measured attention step",
        "remaining work is unchanged", "without overlap or interaction", "h < Delta", "No percentage end to end"})
    CHECK_THAT(text, ContainsSubstring(caveat));
}

TEST_CASE("the caveats stand in every format that has room for them") {
  const auto analysis = three_rows();
  const auto all = notes(analysis);
  REQUIRE(all.size() == 5);
  const auto json = nlohmann::json::parse(print_json(analysis));
  CHECK(json["notes"] == nlohmann::json(all));
  CHECK_THAT(print_markdown(analysis, {}), ContainsSubstring("not a confidence interval"));
}

TEST_CASE("no table line is wider than the terminal, and nothing is lost") {
  auto analysis = three_rows();
  analysis.rows[1].model = "一个很长的模型名字-with-a-long-tail";
  for (std::size_t width = 20; width <= 200; width += 7) {
    std::istringstream lines(print_table(analysis, {width, true}));
    std::string joined;
    for (std::string line; std::getline(lines, line);) {
      CHECK(display_width(line) <= width);
      for (const char character : line)
        if (character != ' ') joined += character;
    }
    CHECK_THAT(joined, ContainsSubstring("none:fusedcosts0.200ms") || ContainsSubstring("none:fused"));
    CHECK_THAT(joined, ContainsSubstring("-0.200"));
    CHECK_THAT(joined, ContainsSubstring("notaconfidenceinterval"));
  }
}

TEST_CASE("emulated and simulated stand on every row that is") {
  Analysis analysis;
  auto record = blank_record();
  record.fabric = "emulated";
  add(analysis, blank_cell(), record);
  record.fabric = "nvlink", record.source = "simulated";
  add(analysis, blank_cell(), record);
  for (const Grid& grid : {headline(analysis), breakdown(analysis)}) {
    std::size_t emulated = 0, simulated = 0;
    for (const auto& row : grid.rows)
      for (const auto& text : row) {
        emulated += text == "emulated" ? 1 : 0;
        simulated += text == "simulated nvlink" ? 1 : 0;
      }
    CHECK(emulated * 2 == grid.rows.size());
    CHECK(simulated * 2 == grid.rows.size());
  }
  CHECK_THAT(print_table(analysis, {}),
             ContainsSubstring("says nothing about a link") && ContainsSubstring("not measured"));
}

TEST_CASE("names cannot break a table") {
  const std::string attack = "a|b`c*<script>\x1b[2J\n=1";
  const std::string markdown = print_markdown(named(attack), {});
  CHECK_THAT(markdown, ContainsSubstring("a\\|b\\`c\\*\\<script\\>\\\\x1b\\[2J\\\\n=1"));
  CHECK(markdown.find('\x1b') == std::string::npos);
  const std::string table = print_table(named(attack), {});
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK_THAT(table, ContainsSubstring("a|b`c*<script>\\x1b[2J\\n=1"));
  CHECK(markdown_text("native_packed _x_") == "native_packed \\_x\\_");
}

TEST_CASE("CSV has every digit, empty fields for no value, and one record a row") {
  const auto analysis = three_rows();
  const auto records = parse_csv(print_csv(analysis));
  REQUIRE(records.size() == 4);
  for (const auto& record : records) CHECK(record.size() == records[0].size());
  CHECK(csv_field(analysis, 0, "delta_ms") == csv_field(analysis, 0, "budget_ms"));
  CHECK(std::stod(csv_field(analysis, 1, "delta_ms")) == analysis.rows[1].delta->delta_ms);
  CHECK(csv_field(analysis, 1, "budget_ms").empty());
  CHECK(csv_field(analysis, 2, "delta_ms").empty());
  CHECK(csv_field(analysis, 2, "reason") == "reversed missing");
  CHECK(csv_field(analysis, 0, "qkv_dgrad_delta_ms") == "1");
  CHECK(csv_field(analysis, 2, "qkv_dgrad_delta_ms").empty());
}

TEST_CASE("CSV quotes, and disarms what a spreadsheet would run") {
  CHECK(csv_field(named("a,b"), 0, "model") == "a,b");
  CHECK(csv_field(named("a\"b"), 0, "model") == "a\"b");
  CHECK(csv_field(named("Modèle-ü-模型"), 0, "model") == "Modèle-ü-模型");
  CHECK(csv_field(named("=1+1"), 0, "model") == "'=1+1");
  CHECK(csv_field(named("@x"), 0, "model") == "'@x");
  CHECK(csv_field(named("-2\"3"), 0, "model") == "'-2\"3");
  CHECK(csv_field(named("a\nb"), 0, "model") == "a\\nb");
  CHECK(csv_field(three_rows(), 1, "delta_ms").front() == '-');  // a number is no text
}

TEST_CASE("JSON has the documented keys and no others") {
  const auto json = nlohmann::json::parse(print_json(three_rows()));
  const auto keys = [](const nlohmann::json& object) {
    std::set<std::string> names;
    for (const auto& [name, value] : object.items()) names.insert(name);
    return names;
  };
  CHECK(keys(json) == std::set<std::string>{"format", "format_version", "rows", "notes"});
  CHECK(json["format"] == "megaup-analysis");
  CHECK(json["format_version"] == "1.0.0");
  REQUIRE(json["rows"].size() == 3);
  for (const auto& row : json["rows"]) {
    CHECK(keys(row) ==
          std::set<std::string>{
              "file",      "cell",           "model",          "cp",          "tokens_per_rank", "source",
              "fabric",    "status",         "reason",         "baseline",    "candidate",       "delta_ms",
              "budget_ms", "order_delta_ms", "operations",     "blocks",      "interval_ms",     "confidence",
              "h_safe_ms", "verdict",        "verdict_reason", "more_blocks", "resolution_ms",   "order_effect",
              "drift",     "sign_flip_p",    "possible_ms",    "realised"});
    CHECK(keys(row["order_delta_ms"]) == std::set<std::string>{"initial", "reversed"});
    for (const auto& operation : row["operations"])
      CHECK(keys(operation) == std::set<std::string>{"operation", "baseline_ms", "candidate_ms", "delta_ms", "gemm_ms",
                                                     "exchange_ms", "reorder_ms", "floor_ms", "realised"});
  }
  CHECK(json["rows"][0]["delta_ms"].get<double>() == Approx(4.0));
  CHECK(json["rows"][0]["operations"][0]["gemm_ms"].is_null());
  CHECK(json["rows"][1]["delta_ms"].get<double>() == Approx(-0.2));
  CHECK(json["rows"][1]["budget_ms"].is_null());
  CHECK(json["rows"][2]["delta_ms"].is_null());
  CHECK(json["rows"][2]["order_delta_ms"]["initial"].is_null());
  CHECK(json["rows"][2]["operations"].empty());
  CHECK(json["rows"][2]["status"] == "incomplete");
}

TEST_CASE("JSON without rows is still JSON") {
  const auto json = nlohmann::json::parse(print_json({}));
  CHECK(json["rows"].is_array());
  CHECK(json["rows"].empty());
}

TEST_CASE("JSON keeps names, and survives bytes that are no text") {
  const auto model = [](const std::string& name) {
    return nlohmann::json::parse(print_json(named(name)))["rows"][0]["model"].get<std::string>();
  };
  for (const char* name :
       {"</script><img src=x onerror=document.title=1>", "a\"b'c & <d>", "Modèle-ü-模型", "a\nb\x1b"})
    CHECK(model(name) == name);
  CHECK(model("a\xff") == "a\xef\xbf\xbd");
}

TEST_CASE("h, and a base for percentages, add columns") {
  auto analysis = three_rows();
  analysis.assumptions = {.h_ms = 0.5, .step_ms = 100.0};
  CHECK_THAT(print_table(analysis, {}),
             ContainsSubstring("+3.50") &&
                 ContainsSubstring("h = 0.5 ms (given): 1 of the 2 measured rows with a Delta benefit") &&
                 ContainsSubstring("of a step of 100 ms (given)") && !ContainsSubstring("No percentage"));
  const auto row = nlohmann::json::parse(print_json(analysis))["rows"][0];
  CHECK(row["saving_ms"].get<double>() == Approx(3.5));
  CHECK(row["benefit"] == true);
  CHECK(row["step_percent"].get<double>() == Approx(3.5));
  CHECK(csv_field(analysis, 1, "benefit") == "no");
  CHECK(csv_field(analysis, 2, "benefit").empty());
  analysis.assumptions = {.step_ms = 5.0};
  CHECK_THAT(print_table(analysis, {}), ContainsSubstring("a step of 5 ms cannot hold operations of 8 ms"));
}

TEST_CASE("columns that tell rows apart appear when they are needed") {
  auto analysis = three_rows();
  const auto titles = [](const Grid& grid) {
    std::set<std::string> names;
    for (const auto& column : grid.columns) names.insert(column.title);
    return names;
  };
  CHECK(titles(headline(analysis)) == std::set<std::string>{"model", "CP", "M", "fabric", "native_packed ms",
                                                            "fused ms", "Delta ms", "budget for h"});
  analysis.rows[1].file = "other.h5";
  CHECK(titles(headline(analysis)).contains("file"));
  analysis.rows[1].baseline = "native_chunked";
  CHECK(titles(headline(analysis)).contains("baseline ms"));
  CHECK_FALSE(titles(headline(analysis)).contains("cell"));
  analysis.rows.push_back(analysis.rows[0]);
  CHECK(titles(headline(analysis)).contains("cell"));
}

TEST_CASE("marks stand on the row, and many notes are cut in the table only") {
  Analysis analysis;
  for (int i = 0; i < 40; ++i) {
    auto cell = blank_cell();
    fill(cell, 0, 0, 1, 9.0);
    cell.cp = i + 1;
    add(analysis, cell);
  }
  CHECK(budget_text(analysis.rows[0]) == "4.00 ms; order warning");
  CHECK_THAT(print_table(analysis, {}), ContainsSubstring("and 15 more notes"));
  CHECK(nlohmann::json::parse(print_json(analysis))["notes"].size() == 45);
}

namespace {

/// What a German locale does to numbers, without being installed.
struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

std::string every_format() {
  auto analysis = three_rows();
  analysis.assumptions = {.h_ms = 1234.5, .unchanged_ms = 98765.4321};
  return print_table(analysis, {}) + print_markdown(analysis, {}) + print_csv(analysis) + print_json(analysis);
}

}  // namespace

TEST_CASE("no format looks at the C++ locale") {
  const std::string before = every_format();
  CHECK_THAT(before, ContainsSubstring("1234.5"));
  const std::locale old = std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
  const std::string after = every_format();
  std::locale::global(old);
  CHECK(after == before);
}

TEST_CASE("no format looks at the C locale") {
  const std::string before = every_format();
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) SKIP("the locale de_DE.UTF-8 is not installed");
  const std::string after = every_format();
  std::setlocale(LC_ALL, "C");
  CHECK(after == before);
}
