#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace megaup::ops {

/// Columns of one head in one matrix, copied to columns of another. Addresses are `from_base + from` and `to_base + to`
/// bytes, the bases being given at launch: the buffers of an exchange may change from launch to launch.
struct HeadPiece {
  std::int64_t from, to;
  std::int32_t from_ld, to_ld;              // elements between rows
  const std::int32_t *from_rows, *to_rows;  // row maps on the device: row i is from_rows[first + i]; null: row i
};

/// Columns that several ranks contribute to: copy c of them lies at from_base + from + c*copy_stride bytes. They are
/// added in FP32 in this order and rounded once.
struct HeadSum {
  std::int64_t from, copy_stride, to;
  std::int32_t from_ld, to_ld, copies, unused;
};

/// Pieces of the same width, in device memory.
template <class Piece>
struct HeadTable {
  const Piece* pieces;
  std::int32_t count;
  std::int32_t features;  // columns of a piece
  bool wide;              // every address is a multiple of 16 bytes: the widest loads can be used
};

/// Rows [first, first + rows) of the token rows, in one pass: every element is read once and written once. Neighbouring
/// threads have neighbouring columns, so both sides move whole lines. Throws Error{environment} when the launch fails.
void launch_head_copy(cudaStream_t stream, const HeadTable<HeadPiece>& table, const void* from_base, void* to_base,
                      std::int64_t first, std::int64_t rows);
void launch_head_sum(cudaStream_t stream, const HeadTable<HeadSum>& table, const void* from_base, void* to_base,
                     std::int64_t rows);
/// Why these kernels cannot run on the current device; nothing if they can.
cudaError_t head_copy_loadable();

}  // namespace megaup::ops
