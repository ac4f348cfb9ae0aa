#include <megaup/core/record.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/hash.hpp>
#include <megaup/core/test_support/files.hpp>
#include <megaup/core/test_support/records.hpp>

using namespace megaup::core;
using Catch::Matchers::ContainsSubstring;
using test_support::bytes_of, test_support::Folder;
namespace fs = std::filesystem;

namespace {

CellRecord sample_cell(const std::string& id) {
  auto cell = test_support::measured_cell(id, {"native_packed", "fused", "gemm_only"}, {0, 1}, 5);
  cell.extra = {{"duty", "sustained"}, {"peak_bytes", std::int64_t{123456789012}}, {"gemm_share", 0.1}};
  for (std::size_t i = 0; i < cell.latency.size(); ++i) cell.latency[i] += 1e-7 * static_cast<double>(i);
  return cell;
}

Record sample(std::vector<CellRecord> cells) {
  auto record = test_support::record_of(std::move(cells));
  record.git = std::string(40, 'a');
  record.fabric = "emulated";
  record.extra = {{"plan_sha256", std::string(64, 'b')}, {"seed", std::int64_t{-7}}, {"h_ms", 0.25}};
  record.environment = {{"host", "node-a"}, {"cpu", "an example"}, {"empty", ""}};
  record.spec_yaml = "spec_version: 1\r\nname: \"ü\"\n";
  record.spec_resolved = "{\"name\": \"ü\"}";
  record.spec_sha256_yaml = sha256(record.spec_yaml);
  record.spec_sha256_resolved = sha256(record.spec_resolved);
  return record;
}

/// NaN equals NaN here: it says "not taken", and must come back.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

void check_same(const CellRecord& a, const CellRecord& b) {
  CHECK(a.id == b.id);
  CHECK(a.model == b.model);
  CHECK(std::vector{a.hidden, a.query_heads, a.kv_heads, a.head_dim, a.cp, a.batch, a.tokens_per_rank} ==
        std::vector{b.hidden, b.query_heads, b.kv_heads, b.head_dim, b.cp, b.batch, b.tokens_per_rank});
  CHECK(std::vector{a.dtype, a.format, a.sequence_order, a.qkv_weight, a.status, a.reason, a.fault} ==
        std::vector{b.dtype, b.format, b.sequence_order, b.qkv_weight, b.status, b.reason, b.fault});
  CHECK(a.extra == b.extra);
  CHECK(a.operations == b.operations);
  CHECK(a.arms == b.arms);
  CHECK(a.order == b.order);
  CHECK(a.observations == b.observations);
  CHECK(a.ranks == b.ranks);
  CHECK(same(a.latency, b.latency));
  CHECK(same(a.started, b.started));
  CHECK(same(a.error_frobenius, b.error_frobenius));
  CHECK(same(a.error_max, b.error_max));
  CHECK(same(a.error_bound, b.error_bound));
}

template <class Call>
std::string message(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  FAIL("no error");
  return {};
}

}  // namespace

TEST_CASE("a record comes back as it was written, cells sorted by id") {
  const Folder folder;
  auto second = sample_cell("b");
  second.latency[17] = std::numeric_limits<double>::quiet_NaN();
  second.latency[18] = std::numeric_limits<double>::infinity();
  second.latency[19] = -0.0;
  const auto written = sample({second, sample_cell("a.cp2.m2048")});
  write_record(written, folder.path / "r.h5", false);
  const auto read = read_record(folder.path / "r.h5");

  CHECK(read.path == (folder.path / "r.h5").string());
  CHECK(read.format_version == "1.0.0");
  CHECK(read.created == written.created);
  CHECK(read.megaup_version == written.megaup_version);
  CHECK(read.git == written.git);
  CHECK(read.source == "measured");
  CHECK(read.fabric == "emulated");
  CHECK(read.extra == written.extra);
  CHECK(read.environment == written.environment);
  CHECK(read.spec_yaml == written.spec_yaml);
  CHECK(read.spec_resolved == written.spec_resolved);
  CHECK(read.spec_sha256_yaml == written.spec_sha256_yaml);
  CHECK(read.spec_sha256_resolved == written.spec_sha256_resolved);
  REQUIRE(read.cells.size() == 2);
  check_same(read.cells[0], written.cells[1]);
  check_same(read.cells[1], written.cells[0]);
  CHECK(std::signbit(read.cells[1].latency[19]));
  CHECK(violations(sample({sample_cell("a")})).empty());
}

TEST_CASE("equal records make equal bytes") {
  const Folder folder;
  write_record(sample({sample_cell("a"), sample_cell("b")}), folder.path / "1.h5", false);
  write_record(sample({sample_cell("b"), sample_cell("a")}), folder.path / "2.h5", false);
  CHECK(sha256(bytes_of(folder.path / "1.h5")) == sha256(bytes_of(folder.path / "2.h5")));
}

TEST_CASE("free text survives: quotes, tags, other scripts, 300 characters, nothing") {
  const Folder folder;
  const auto text =
      GENERATE(as<std::string>{}, "</script><img src=x onerror=document.title=1>", "a\"b'c & <d>", "Modèle-ü-模型",
               "fused/v1", ".", "", " spaces ", std::string(300, 'x') + "ü", "line\nbreak\ttab");
  auto cell = sample_cell("a");
  cell.model = text;
  cell.extra["note"] = text;
  auto record = sample({cell});
  record.environment["note"] = text;
  write_record(record, folder.path / "r.h5", false);
  const auto read = read_record(folder.path / "r.h5");
  CHECK(read.cells.at(0).model == text);
  CHECK(read.cells.at(0).extra.at("note") == Attribute(text));
  CHECK(read.environment.at("note") == text);
}

TEST_CASE("cell ids that HDF5 or a file system would misread are refused, and nothing is written") {
  const Folder folder;
  const auto id = GENERATE(as<std::string>{}, "", ".", "..", "fused/v1", std::string("a\0b", 3), "\xff");
  const auto text =
      message(ErrorKind::usage, [&] { write_record(sample({sample_cell(id)}), folder.path / "r.h5", false); });
  CHECK_THAT(text, ContainsSubstring("r.h5"));
  CHECK_THAT(text, ContainsSubstring("a cell"));
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("ids with dots, spaces, other scripts and 300 characters are kept") {
  const Folder folder;
  const auto id = GENERATE(as<std::string>{}, "llama-3.1-8b.cp2", "two words", "模型", std::string(300, 'i'), "..a");
  write_record(sample({sample_cell(id)}), folder.path / "r.h5", false);
  CHECK(read_record(folder.path / "r.h5").cells.at(0).id == id);
}

TEST_CASE("records that contradict themselves are not written") {
  const Folder folder;
  auto record = sample({sample_cell("a")});
  auto& cell = record.cells[0];
  std::string expected;
  SECTION("two cells of one id") {
    record.cells.push_back(cell);
    expected = "two cells of this id";
  }
  SECTION("times that do not fit the axes") {
    cell.latency.pop_back();
    expected =
        "latency has 239 values, and its axes (operations 4, arms 3, blocks 2, observations 5, ranks 2) make 240";
  }
  SECTION("errors that do not fit the axes") {
    cell.error_max.push_back(0);
    expected = "error_max has 13 values";
  }
  SECTION("measured without times") {
    cell.latency.clear();
    expected = "has no times";
  }
  SECTION("a cell that was read with a fault") {
    cell.fault = "/cells/a/latency: unit missing";
    expected = "read with a fault";
  }
  SECTION("a null byte in a text") {
    cell.model = std::string("a\0b", 3);
    expected = "null byte";
  }
  SECTION("extra that hides a member") {
    cell.extra["cp"] = std::int64_t{4};
    expected = "'cp' has a member of its own";
  }
  SECTION("no host") {
    record.environment.erase("host");
    expected = "has no 'host'";
  }
  CHECK_THAT(message(ErrorKind::usage, [&] { write_record(record, folder.path / "r.h5", false); }),
             ContainsSubstring(expected));
  CHECK(fs::is_empty(folder.path));
}

TEST_CASE("a cell without times keeps what it has") {
  const Folder folder;
  auto refused = sample_cell("refused");
  refused.status = "refused";
  refused.reason = "KV heads 2 are fewer than cp 4 ranks";
  refused.operations.clear();
  refused.arms.clear();
  refused.order.clear();
  refused.observations = refused.ranks = 0;
  for (auto* values :
       {&refused.latency, &refused.started, &refused.error_frobenius, &refused.error_max, &refused.error_bound})
    values->clear();
  auto failed = sample_cell("failed");
  failed.status = "failed";
  failed.reason = "validation: out_fwd rank 1, error 0.4 above 0.01";
  failed.latency.clear();
  failed.started.clear();
  write_record(sample({failed, refused}), folder.path / "r.h5", false);
  const auto read = read_record(folder.path / "r.h5");
  check_same(read.cells.at(0), failed);
  check_same(read.cells.at(1), refused);
}

TEST_CASE("texts too long for an attribute: environment kept whole, a reason cut and marked") {
  const Folder folder;
  auto cell = sample_cell("a");
  cell.status = "failed";
  cell.reason = std::string(200000, 'r');
  auto record = sample({cell});
  record.environment["modules"] = std::string(200000, 'm');
  record.spec_yaml += std::string(200000, '#');
  write_record(record, folder.path / "r.h5", false);
  const auto read = read_record(folder.path / "r.h5");
  CHECK(read.environment.at("modules") == record.environment.at("modules"));
  CHECK(read.spec_yaml == record.spec_yaml);
  CHECK(read.cells.at(0).reason.size() <= 60000);
  CHECK_THAT(read.cells.at(0).reason, ContainsSubstring("rrr ... (200000 bytes in all)"));
}

TEST_CASE("for_each_cell gives the header with each cell and only the parts that are asked for") {
  const Folder folder;
  write_record(sample({sample_cell("a"), sample_cell("b")}), folder.path / "r.h5", false);
  std::vector<std::string> ids;
  const auto header = for_each_cell(folder.path / "r.h5", {.started = false, .errors = false},
                                    [&](const Record& head, CellRecord& cell) {
                                      CHECK(head.environment.at("host") == "node-a");
                                      CHECK(cell.latency.size() == 240);
                                      CHECK(cell.started.empty());
                                      CHECK(cell.error_bound.empty());
                                      ids.push_back(cell.id);
                                    });
  CHECK(ids == std::vector<std::string>{"a", "b"});
  CHECK(header.cells.empty());
  CHECK(header.created == "2026-11-29T12:00:00Z");
  CHECK_THROWS_AS(
      for_each_cell(folder.path / "r.h5", {}, [](const Record&, CellRecord&) { throw std::logic_error("enough"); }),
      std::logic_error);
}

TEST_CASE("a record without cells is a record") {
  const Folder folder;
  write_record(sample({}), folder.path / "r.h5", false);
  CHECK(read_record(folder.path / "r.h5").cells.empty());
}

TEST_CASE("an existing file is overwritten only on request, and then whole") {
  const Folder folder;
  const auto path = folder.path / "r.h5";
  std::ofstream(path) << "precious";
  CHECK_THAT(message(ErrorKind::usage, [&] { write_record(sample({sample_cell("a")}), path, false); }),
             ContainsSubstring("r.h5: exists"));
  CHECK(bytes_of(path) == "precious");
  write_record(sample({sample_cell("a")}), path, true);
  CHECK(read_record(path).cells.size() == 1);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("threads may read and write at once: each HDF5 call is alone") {
  const Folder folder;
  std::vector<std::thread> threads;
  std::vector<int> n_cells(4, 0);
  for (std::size_t t = 0; t < n_cells.size(); ++t)
    threads.emplace_back([&, t] {
      const auto path = folder.path / (std::to_string(t) + ".h5");
      for (int i = 0; i < 5; ++i) {
        write_record(sample({sample_cell("a"), sample_cell("b")}), path, true);
        n_cells[t] += static_cast<int>(read_record(path).cells.size());
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(n_cells == std::vector<int>(4, 10));
}
