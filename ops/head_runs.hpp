#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <megaup/core/layout.hpp>

/// Where the columns of a wide matrix [M, W] go, as contiguous runs: neighbouring heads that stay neighbours are copied
/// as one.
namespace megaup::ops {

/// A slab may hold all heads of its destination, or those of one kind (pipelined exchanges).
using OnlyKind = std::optional<core::Head>;

/// Columns [wide, wide + columns) of the wide matrix are columns [slab, slab + columns) of one destination's slab.
struct WideRun {
  std::int64_t wide, slab, columns;
};

/// Columns [local, local + columns) of this rank's tensor `kind` are columns [slab, slab + columns) of every slab that
/// it receives or sends.
struct TensorRun {
  core::Head kind;
  std::int64_t local, slab, columns;
};

/// Columns [wide, wide + columns) of the wide matrix are columns [local, local + columns) of tensor `kind` on ranks
/// [rank, rank + copies).
struct HomeRun {
  core::Head kind;
  std::int64_t wide, local, columns;
  int rank, copies;
};

std::int64_t slab_columns(const core::HeadLayout& layout, OnlyKind only = {});
std::vector<WideRun> wide_runs(const core::HeadLayout& layout, std::int64_t destination, OnlyKind only = {});
std::vector<TensorRun> tensor_runs(const core::HeadLayout& layout, std::int64_t rank, OnlyKind only = {});
/// In the order of the wide matrix, which they cover without gaps.
std::vector<HomeRun> home_runs(const core::HeadLayout& layout);

/// Destination row of each local row of rank r: [M].
std::vector<std::int64_t> destination_rows(const core::Problem& problem, std::int64_t r);

}  // namespace megaup::ops
