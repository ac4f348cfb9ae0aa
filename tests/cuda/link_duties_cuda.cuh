#pragma once

#include <vector>

#include <link_rows_cuda.cuh>

/// The two ways to time the variants of a cell; link_benchmark_cuda.cu describes them. Collective; rank 0 prints.
namespace megaup::cuda_tests {

/// In three groups, each interleaved: a first look at all kernels, the best of them, the native arms.
void time_interleaved(const LinkCell& cell, const Duty& duty, const Variant& bare, const std::vector<Variant>& kernels,
                      const std::vector<Variant>& natives);

/// Each variant alone, the bare GEMM first and last.
void time_blocked(const LinkCell& cell, const Duty& duty, const Variant& bare, const std::vector<Variant>& kernels,
                  const std::vector<Variant>& natives);

}  // namespace megaup::cuda_tests
