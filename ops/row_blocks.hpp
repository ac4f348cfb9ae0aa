#pragma once

#include <algorithm>
#include <cstdint>

namespace megaup::ops {

/// Calls step(first, rows) for blocks of `block` of n rows (the last may have fewer) on the cores of this rank. On one
/// core there is no parallel region: OpenMP allocates a team for each.
template <class Step>
void for_row_blocks(std::int64_t n, std::int64_t block, int threads, const Step& step) {
  if (threads == 1) {
    for (std::int64_t i = 0; i < n; i += block) step(i, std::min(block, n - i));
    return;
  }
#pragma omp parallel for num_threads(threads)
  for (std::int64_t i = 0; i < n; i += block) step(i, std::min(block, n - i));
}

}  // namespace megaup::ops
