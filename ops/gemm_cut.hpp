#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <megaup/ops/operation.hpp>

namespace megaup::ops {

/// How the host GEMM cuts C, and how it lays out its copies of A and B: a pure function of the shape.
struct GemmCut {
  std::int64_t tile_rows;        ///< rows of A that are gathered at a time
  std::int64_t row_step;         ///< row chunks of a caller are multiples of it
  std::int64_t first_panel;      ///< columns that are accumulated shard by shard; 0 if there is one shard
  std::int64_t panel;            ///< columns of the other panels, the last one may have fewer
  std::int64_t lda;              ///< leading dimension of the A tile
  std::int64_t ldb;              ///< leading dimension of a copy of the weight
  std::int64_t weight_elements;  ///< of that copy
  std::int64_t acc_columns() const { return std::max(first_panel, panel); }
};

/// `dense`: products of the exact shapes of the tiles, on matrices without padding; else products of any shape.
constexpr GemmCut gemm_cut(const GemmShape& g, std::size_t shards, bool dense, std::size_t element_bytes) {
  // A product of any shape packs its A anew: 1 % of the time with panels of 2048 columns, 4 % with 512. A dense one
  // does not, and is faster while its accumulator stays in the caches of the core.
  const std::int64_t longest_tile = dense ? 256 : 2048, widest_panel = dense ? 512 : 2048;
  // Long enough to hide a late peer, short enough not to be felt; it is no dense product, hence narrower for those.
  const std::int64_t first_panel = dense ? 128 : 256;
  constexpr std::int64_t kStep = 64;

  // Steps of equal length, at most `longest`.
  const auto even_step = [](std::int64_t total, std::int64_t longest) {
    const std::int64_t parts = (total + longest - 1) / longest;
    return parts <= 1 ? total : ((total + parts - 1) / parts + kStep - 1) / kStep * kStep;
  };
  // One cache line more than needed: rows that lie a multiple of 4096 bytes apart would share few cache sets.
  const auto padded = [element_bytes](std::int64_t columns) {
    const std::int64_t line = 64 / static_cast<std::int64_t>(element_bytes);
    return (columns + line - 1) / line * line + line;
  };
  GemmCut c{};
  c.tile_rows = dense ? std::min(g.m, longest_tile) : even_step(g.m, longest_tile);
  c.row_step = std::min(g.m, kStep);
  c.first_panel = shards > 1 ? std::min(g.n, first_panel) : 0;
  c.panel = even_step(g.n - c.first_panel, widest_panel);
  c.lda = dense ? g.k : padded(g.k);
  c.ldb = g.weight_transposed ? c.lda : padded(g.n);
  c.weight_elements = (g.weight_transposed ? g.n : g.k) * c.ldb;
  return c;
}

}  // namespace megaup::ops
