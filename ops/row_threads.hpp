#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace megaup::ops {

/// Calls body(first row, one behind the last row) on up to so many threads, each with a contiguous part of the rows; with
/// one, on the calling thread. The body must not throw.
template <class Body>
void on_row_threads(std::int64_t rows, int threads, const Body& body) {
  const std::int64_t parts = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(1, rows));
  std::vector<std::jthread> others;
  for (std::int64_t part = 1; part < parts; ++part)
    others.emplace_back([&body, rows, part, parts] { body(rows * part / parts, rows * (part + 1) / parts); });
  body(0, rows / parts);
}

/// The first row that is `bad`, whatever the number of threads; `rows` if none is. bad(row) must not throw.
template <class Bad>
std::int64_t first_row(std::int64_t rows, int threads, const Bad& bad) {
  std::atomic<std::int64_t> lowest = rows;
  on_row_threads(rows, threads, [&](std::int64_t first, std::int64_t last) {
    std::int64_t row = first;
    while (row < last && !bad(row)) ++row;
    if (row == last) return;
    std::int64_t seen = lowest.load();
    while (row < seen && !lowest.compare_exchange_weak(seen, row)) {
    }
  });
  return lowest.load();
}

}  // namespace megaup::ops
