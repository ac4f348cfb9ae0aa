#include <megaup/ops/row_threads.hpp>

#include <mutex>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace megaup::ops {
namespace {

TEST_CASE("every row is given to one thread, with more threads than rows and without a row too") {
  for (const int threads : {1, 2, 3, 8})
    for (const std::int64_t rows : {0, 1, 2, 7, 64}) {
      CAPTURE(threads, rows);
      std::mutex mutex;
      std::vector<int> seen(static_cast<std::size_t>(rows));
      on_row_threads(rows, threads, [&](std::int64_t first, std::int64_t last) {
        const std::lock_guard lock(mutex);
        for (std::int64_t row = first; row < last; ++row) ++seen[static_cast<std::size_t>(row)];
      });
      CHECK(seen == std::vector<int>(static_cast<std::size_t>(rows), 1));
    }
}

TEST_CASE("the first bad row is the lowest of all threads") {
  constexpr std::int64_t kRows = 90;
  for (const int threads : {1, 2, 3, 8})
    for (std::int64_t lowest = 0; lowest <= kRows; ++lowest) {
      CAPTURE(threads, lowest);
      CHECK(first_row(kRows, threads, [&](std::int64_t row) { return row >= lowest; }) == lowest);
      CHECK(first_row(kRows, threads, [&](std::int64_t row) { return row == lowest; }) == lowest);
    }
}

}  // namespace
}  // namespace megaup::ops
