#include <megaup/core/record.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>

#include <megaup/core/test_support/records.hpp>

using namespace megaup::core;

namespace {

/// A cell as `run` writes it with the bounds at CP 2: 25 kB of times.
CellRecord cell_of_run(int i) {
  auto cell = test_support::measured_cell(fmt::format("llama-3.1-8b.cp2.m{:05}", i),
                                          {"native_packed", "fused", "gemm_only", "exchange_only", "reorder_only"});
  cell.tokens_per_rank = 2048 + i;
  cell.extra = {
      {"duty", "sustained"}, {"cadence", "barrier"}, {"cache", "warm"}, {"peak_bytes", std::int64_t{123456789}}};
  return cell;
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

// megaup_core_tests "[.benchmark]": times are printed and never judged.
TEST_CASE("10,000 cells read one at a time, and written", "[.benchmark]") {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("megaup-benchmark.{}.h5", getpid());
  {
    auto record = test_support::record_of({});
    for (int i = 0; i < 10000; ++i) record.cells.push_back(cell_of_run(i));
    fmt::print("write            {:.2f} s\n", seconds_of([&] { write_record(record, path, true); }));
  }
  for (const bool everything : {false, true})
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::size_t n_times = 0;
      const auto count = [&](const Record&, CellRecord& cell) { n_times += cell.latency.size(); };
      const auto seconds =
          seconds_of([&] { for_each_cell(path, {.started = everything, .errors = everything}, count); });
      fmt::print("read {} {:.3f} s, {:.0f} MB of times\n", everything ? "everything  " : "times only  ", seconds,
                 8e-6 * static_cast<double>(n_times));
    }
  fmt::print("peak memory      {} MB, the record itself included\n", peak_megabytes());
  std::filesystem::remove(path);
}
