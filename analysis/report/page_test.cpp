#include <megaup/analysis/report/page.hpp>

#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <megaup/analysis/cell_rows.hpp>
#include <megaup/analysis/conclusions.hpp>
#include <megaup/analysis/report/page_row.hpp>
#include <megaup/analysis/test_support/cells.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace megaup::analysis;
using namespace megaup::analysis::test_support;
namespace core = megaup::core;

namespace {

Analysis analysis_of(const std::vector<core::CellRecord>& cells) {
  Analysis analysis;
  const auto header = blank_record();
  analysis.files.push_back({.path = header.path,
                            .source = header.source,
                            .fabric = header.fabric,
                            .created = header.created,
                            .host = "node-a"});
  for (const auto& cell : cells)
    for (Row& row : cell_rows(header, cell, Depth::observations)) {
      conclude(row, std::nullopt);
      analysis.rows.push_back(std::move(row));
    }
  return analysis;
}

/// The JSON of a page, found as a browser finds it: from the opening tag to the first closing one.
nlohmann::json data_of(const Page& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t start = page.html.find(open) + open.size();
  return nlohmann::json::parse(page.html.substr(start, page.html.find("</script", start) - start));
}

}  // namespace

TEST_CASE("the page carries the program's numbers with their text") {
  auto cell = blank_cell();
  fill_arm(cell, 1, 1.05);
  const auto pages = report_pages(analysis_of({cell}), "page.html");
  REQUIRE(pages.size() == 1);
  CHECK(pages[0].name == "page.html");
  const auto row = data_of(pages[0])["rows"][0];
  CHECK(row["delta"][1] == "-0.200");
  CHECK(row["words"] == "costs 0.200 ms");
  CHECK(row["operations"][0]["numbers"][2] == "-0.050");
  CHECK(row["operations"][0]["numbers"][3].is_null());
  CHECK(row["why"] == "no verdict: 2 of at least 4 blocks");
  CHECK(data_of(pages[0])["headline"] == "The fused arm saves time in 0 of 1 configuration");
}

TEST_CASE("no name ends the script that holds the data") {
  auto cell = blank_cell();
  cell.model = "</script><img src=x onerror=document.title=1>";
  cell.id = "<!--<script>";
  const Page page = report_pages(analysis_of({cell}), "page.html").at(0);
  CHECK(data_of(page)["rows"][0]["model"] == cell.model);
  CHECK(page.html.find("<img") == std::string::npos);
  CHECK(page.html.find("<!--") == std::string::npos);
}

TEST_CASE("the page asks for nothing from outside") {
  const Page page = report_pages(analysis_of({blank_cell()}), "page.html").at(0);
  for (const char* word : {" src=", "@import", "url(", "fetch(", "XMLHttpRequest", "https://", "innerHTML"}) {
    CAPTURE(word);
    CHECK(page.html.find(word) == std::string::npos);
  }
  CHECK_THAT(page.html, ContainsSubstring("default-src 'none'"));
}

TEST_CASE("rows that do not fit are split over pages with links to each other") {
  std::vector<core::CellRecord> cells;
  for (int i = 0; i < 30; ++i) {
    cells.push_back(blank_cell());
    cells.back().cp = i + 1;
  }
  const auto analysis = analysis_of(cells);
  const std::size_t one_page = report_pages(analysis, "page.html").at(0).html.size();
  const auto pages = report_pages(analysis, "my.page.html", one_page - 10'000);
  REQUIRE(pages.size() == 2);
  CHECK(pages[1].name == "my.page-2.html");
  std::size_t rows = 0;
  for (const Page& page : pages) {
    CHECK(page.html.size() < one_page - 10'000);
    const auto data = data_of(page);
    rows += data["rows"].size();
    CHECK(data["parts"] == nlohmann::json{"my.page.html", "my.page-2.html"});
  }
  CHECK(rows == 30);
  CHECK_THAT(data_of(pages[1])["part_words"].get<std::string>(), ContainsSubstring("to 30 of 30"));
}

TEST_CASE("an analysis without rows still makes a page") {
  CHECK(data_of(report_pages(analysis_of({}), "page.html").at(0))["headline"] == "There are no cells");
}

TEST_CASE("a row that was not measured stays, with its reason") {
  auto cell = blank_cell();
  cell.status = "failed";
  cell.reason = "validation: out_fwd rank 1, error 0.4 above 0.01";
  const auto data = data_of(report_pages(analysis_of({cell}), "page.html").at(0));
  CHECK(data["rows"][0]["why"] == cell.reason);
  CHECK(data["rows"][0]["verdict"] == "not measured");
  CHECK_FALSE(data["rows"][0].contains("delta"));
  CHECK(data["headline"] == "None of 1 configuration could be compared");
}

TEST_CASE("observations become two digits each, from the smallest to the largest") {
  const std::vector<float> times{1.0F, 2.0F, 1.5F};
  CHECK(observation_text(times.data(), times.data() + 3) ==
        "AA"
        "__"
        "gA");  // 0, 4095, 2048
  CHECK(observation_text(times.data(), times.data() + 1) == "AA");
  CHECK(observation_text(times.data(), times.data()).empty());
}
