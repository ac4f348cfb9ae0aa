#pragma once

#include <cstdint>
#include <string_view>

#include <megaup/ops/operation.hpp>
#include <megaup/ops/reorder.hpp>

namespace megaup::ops {

/// Division of M rows into chunks of equal size (the last may be shorter), each a multiple of the GEMM's row step.
///
/// Four chunks at most: three quarters of the exchange can then hide behind the GEMM. More chunks could hide little of
/// the quarter that is left. 1024 rows at least, because a forward GEMM prepares its weight anew for each chunk: four
/// chunks of 512 rows of a layer with H = 4096 cost 9 % of the GEMM, and its whole exchange in host memory 1 %.
class RowChunks {
 public:
  static constexpr std::int64_t kMostChunks = core::kMostRowChunks;

  RowChunks(std::int64_t M, std::int64_t row_step);

  int count() const { return static_cast<int>((M_ + rows_ - 1) / rows_); }
  std::int64_t rows() const { return rows_; }
  RowRange operator[](int i) const;

 private:
  std::int64_t M_, rows_;
};

/// Exchanges of chunks in flight.
constexpr int kChunkSlots = 2;

/// Bytes that a chunked arm allocates: GEMM, one wide chunk, two slots of slabs. The row step, which depends on the
/// provider, is taken as 1: exact where it divides the rows of a chunk.
std::int64_t chunked_bytes(const Operation& op, const core::Problem& problem, std::string_view gemm_provider);

}  // namespace megaup::ops
