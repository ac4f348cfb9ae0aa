#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <megaup/core/error.hpp>
#include <megaup/core/matrix.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::ops {

/// Where the rows of A come from (a "mainloop" input). The columns of A are split in shards, accumulated in the order
/// 0, 1, ... so that the result has the same bits from run to run. A shard is one or more column segments, each with
/// rows of its own, wherever they lie.
class RowSource {
 public:
  struct Segment {
    std::int64_t k0, columns;  ///< columns [k0, k0 + columns) of A
  };
  virtual ~RowSource() = default;
  virtual int shards() const = 0;
  virtual std::span<const Segment> segments(int shard) const = 0;
  /// Called once a run for each shard, before its first row is read: waits until the rows may be read.
  virtual void wait(int shard) = 0;
  /// Row i of a segment: `columns` contiguous elements.
  virtual const core::Bf16* row(int shard, int segment, std::int64_t i) const = 0;
};

/// Where finished tiles go (an "epilogue"): called exactly once for every element of C, tile by tile.
class TileSink {
 public:
  virtual ~TileSink() = default;
  /// acc(i, j) = acc[i*ld + j] is C(i0 + i, j0 + j) in FP32, complete over K.
  virtual void store(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns, const float* acc,
                     std::int64_t ld) = 0;
};

/// C = A * B with BF16 operands and FP32 accumulation on this rank's cores; prepared once for one shape. run() brings
/// the weight into the provider's form (inside the timed operation: weights change every step), then walks the tiles.
/// An arm that multiplies in row chunks calls load() once and multiply() for each chunk. wait() of a RowSource is
/// called once a multiply() and shard; store() may be called from several threads at once, for different tiles.
/// Bits    of an element depend on its column, the order of the shards and the shape: the same from run to run.
/// Cost    2*m*n*k FLOP; run() allocates nothing, the library below it may (workspace_bytes counts it).
class HostGemm {
 public:
  virtual ~HostGemm() = default;
  void run(RowSource& a, core::ConstBf16Matrix weight, TileSink& c) {
    load(weight);
    multiply(a, 0, rows(), c);
  }
  /// Brings the weight into the provider's form; it must stay unchanged until the last multiply().
  virtual void load(core::ConstBf16Matrix weight) = 0;
  /// Rows [i0, i0 + n_rows) of C. i0 is a multiple of row_step(), and so is n_rows unless they are the last rows.
  virtual void multiply(RowSource& a, std::int64_t i0, std::int64_t n_rows, TileSink& c) = 0;
  virtual std::int64_t rows() const = 0;      ///< m
  virtual std::int64_t row_step() const = 0;  ///< rows of a tile: chunks are multiples of it
  virtual std::string describe() const = 0;   ///< provider and tile, for the file
};

/// A way to multiply on the host.
struct GemmProvider {
  std::string_view name, doc;
  core::Reason (*infeasible)(const GemmShape& shape);  ///< why not on this processor or for this shape
  std::unique_ptr<HostGemm> (*prepare)(const GemmShape& shape, std::span<const std::int64_t> shard_columns,
                                       int threads);
  /// What prepare allocates, and what the library below it is known to allocate while it runs. 0 if infeasible.
  std::int64_t (*workspace_bytes)(const GemmShape& shape, std::span<const std::int64_t> shard_columns);
};
std::span<const GemmProvider* const> gemm_providers();

/// `shard_columns`: columns of the shards of A in the order in which they are accumulated; empty = one shard of all k
/// columns. Throws Error{usage} for an unknown name, listing those that exist, and Error{cell} with the reason if the
/// provider is infeasible. "auto" is not a provider: ask fastest_gemm_provider first.
std::unique_ptr<HostGemm> prepare_host_gemm(std::string_view provider, const GemmShape& shape,
                                            std::span<const std::int64_t> shard_columns, int threads);

/// The provider that is fastest for this shape in this process, timed on random data (some runs of each, median). Not
/// collective: one rank asks and tells the others, and every arm of a cell is given the same answer.
std::string fastest_gemm_provider(const GemmShape& shape, int threads);
/// Bytes that it takes while it asks.
std::int64_t provider_choice_bytes(const GemmShape& shape);

}  // namespace megaup::ops
