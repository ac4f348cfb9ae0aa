#include <megaup/core/record.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/test_support/files.hpp>

using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
using test_support::kGolden;

namespace {

const CellRecord& find(const Record& record, const std::string& id) {
  for (const auto& cell : record.cells)
    if (cell.id == id) return cell;
  FAIL("no cell " << id);
  return record.cells.front();
}

}  // namespace

TEST_CASE("golden: every file of format 1.0 opens, with its cells in order") {
  const auto ids = [](const char* name) {
    std::vector<std::string> out;
    for (const auto& cell : read_record(kGolden / name).cells) out.push_back(cell.id);
    return out;
  };
  CHECK(ids("worked.h5") == std::vector<std::string>{"drift", "even", "harm", "rankmax", "spike"});
  CHECK(ids("incomplete.h5") == std::vector<std::string>{"failed", "good", "nan", "negative", "no-reversed", "one-arm",
                                                         "three-operations", "zeros"});
  CHECK(ids("eight-blocks.h5") == std::vector<std::string>{"loss", "nothing", "saving"});
  CHECK(ids("twin-a.h5") == std::vector<std::string>{"same"});
}

TEST_CASE("golden: header and configuration of a cell") {
  const auto record = read_record(kGolden / "worked.h5");
  CHECK(record.created == "2026-11-29T12:00:00Z");
  CHECK(record.source == "measured");
  CHECK(record.fabric == "host-memory");
  CHECK(record.environment ==
        std::map<std::string, std::string>{{"host", "node-a"}, {"device", "example"}, {"communicator", "threads"}});
  CHECK(record.spec_yaml == "spec_version: 1\n");
  CHECK(record.spec_resolved == "{}");
  const auto& cell = find(record, "harm");
  CHECK(cell.model == "llama-3.1-8b");
  CHECK(std::vector{cell.hidden, cell.query_heads, cell.kv_heads, cell.head_dim, cell.cp, cell.batch,
                    cell.tokens_per_rank} == std::vector<std::int64_t>{4096, 32, 8, 128, 4, 8, 4096});
  CHECK(cell.operations == std::vector<std::string>{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"});
  CHECK(cell.arms == std::vector<std::string>{"native_packed", "fused"});
  CHECK(cell.order == std::vector<std::uint8_t>{0, 1});
  CHECK(cell.observations == 40);
  CHECK(cell.ranks == 2);
  CHECK(cell.latency[cell.index(3, 1, 1, 39, 1)] == 1.05 / 1e3);
  const auto& spike = find(record, "spike");
  CHECK(spike.latency[spike.index(0, 0, 0, 7, 1)] == 10.0);
  CHECK(spike.latency[spike.index(0, 0, 0, 7, 0)] == 1e-3);
}

TEST_CASE("golden: units are converted, an unknown one is that cell's fault alone") {
  const auto record = read_record(kGolden / "units.h5");
  for (const auto* id : {"milliseconds", "microseconds"}) {
    const auto& cell = find(record, id);
    CHECK(cell.fault.empty());
    CHECK(cell.latency[cell.index(0, 0, 0, 0, 0)] == 2e-3);
    CHECK(cell.latency[cell.index(0, 1, 0, 0, 0)] == 1e-3);
  }
  const auto& unknown = find(record, "unknown");
  CHECK_THAT(unknown.fault, ContainsSubstring("/cells/unknown/latency") && ContainsSubstring("'units'") &&
                                ContainsSubstring("unit 'usec?'"));
  CHECK(unknown.latency.empty());
  CHECK(unknown.cp == 8);  // what could be read is kept
}

TEST_CASE("golden: what is missing is read as it is, and is no fault") {
  const auto record = read_record(kGolden / "incomplete.h5");
  for (const auto& cell : record.cells) CHECK(cell.fault.empty());
  const auto& nan = find(record, "nan");
  CHECK(std::isnan(nan.latency[nan.index(1, 1, 0, 19, 0)]));
  CHECK_FALSE(std::isnan(nan.latency[nan.index(1, 1, 0, 19, 1)]));
  CHECK(find(record, "no-reversed").order == std::vector<std::uint8_t>{0});
  CHECK(find(record, "one-arm").arms == std::vector<std::string>{"native_packed"});
  CHECK(find(record, "three-operations").operations.size() == 3);
  CHECK(find(record, "failed").reason == "validation: out_fwd rank 1, error 0.4 above 0.01");
}

TEST_CASE("golden: hostile names are text") {
  const auto record = read_record(kGolden / "hostile.h5");
  CHECK(find(record, "h1").model == "</script><img src=x onerror=document.title=1>");
  CHECK(find(record, "h2").model == "a\"b'c & <d>");
  CHECK(find(record, "h3").model == "Modèle-ü-模型");
}
