/// Two small commands for record_h5py_test.py:
///   record_sample write FILE   a record with known content
///   record_sample print FILE   what our reader sees: one line `cell<tab>field<tab>value` a fact
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/record.hpp>
#include <megaup/core/test_support/records.hpp>
#include <megaup/core/text.hpp>

using namespace megaup::core;

namespace {

/// latency of operation o, arm a, block b, observation i, rank r: 1 ms + o.abir as digits of microseconds; not taken: the last one.
double time_of(int o, int a, int b, int i, int r) {
  return 1e-3 + 1e-6 * (o + 0.1 * a + 0.01 * b + 0.001 * i + 0.0001 * r);
}

CellRecord sample_cell() {
  auto cell = test_support::measured_cell("llama-3.1-8b.cp2.m2048", {"native_packed", "fused", "gemm_only"}, {0, 1}, 5);
  cell.model = "Modèle \"ü\" <模型>";
  cell.extra = {{"duty", "sustained"}, {"peak_bytes", std::int64_t{123456789012}}, {"gemm_share", 0.75}};
  auto at = cell.latency.begin();
  for (int o = 0; o < 4; ++o)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 2; ++b)
        for (int i = 0; i < 5; ++i)
          for (int r = 0; r < 2; ++r) *at++ = time_of(o, a, b, i, r);
  cell.latency.back() = std::numeric_limits<double>::quiet_NaN();
  return cell;
}

void write(const char* path) {
  auto record = test_support::record_of({sample_cell()});
  record.extra = {{"plan_sha256", std::string(64, 'b')}};
  record.environment = {{"host", "node-ü"}, {"modules", std::string(70000, 'm')}};
  write_record(record, path, true);
}

void print(const char* path) {
  const auto record = read_record(path);
  for (const auto& [name, text] : record.environment) fmt::print("environment\t{}\t{}\n", name, text);
  for (const auto& cell : record.cells) {
    const auto fact = [&](std::string_view name, const std::string& value) {
      fmt::print("{}\t{}\t{}\n", cell.id, name, value);
    };
    fact("model", cell.model);
    fact("hidden", fmt::format("{}", cell.hidden));
    fact("cp", fmt::format("{}", cell.cp));
    fact("tokens_per_rank", fmt::format("{}", cell.tokens_per_rank));
    fact("status", cell.status);
    fact("reason", cell.reason);
    fact("operation", fmt::format("{}", fmt::join(cell.operations, " ")));
    fact("arm", fmt::format("{}", fmt::join(cell.arms, " ")));
    fact("order", fmt::format("{}", fmt::join(cell.order, " ")));
    fact("shape", fmt::format("{} {}", cell.observations, cell.ranks));
    fact("faulty", cell.fault.empty() ? "0" : "1");
    std::string times;
    for (const double time : cell.latency) times += number(time) + " ";
    fact("latency", times);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::string_view(argv[1]) == "write")
      write(argv[2]);
    else if (argc == 3 && std::string_view(argv[1]) == "print")
      print(argv[2]);
    else
      return 2;
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_status(error.kind());
  }
}
