#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <megaup/ops/gemm_a2a/push_gemm_cuda.cuh>

/// The native way on the device: the GEMM as Transformer Engine calls it, one pass of packing, copies, one pass of
/// unpacking.
namespace megaup::ops {

/// C [M, W] = A * B by cuBLASLt: BF16 in and out, FP32 compute and scale, alpha and beta on the host, one requested
/// heuristic result and the first used, 32 MiB + 1 KiB of workspace, no SM target. Descriptors and the heuristic are
/// made here, not in run().
std::unique_ptr<PreparedKernel> prepare_cublaslt(const DeviceGemm& gemm, void* c);

/// One head of one sender: rows [M, D] in columns of a wider matrix, copied to columns of another.
struct HeadPiece {
  const void* from;
  void* to;
  std::int32_t from_pitch, to_pitch;  // elements between rows
  const std::int32_t* to_rows;        // destination row of each row, on the device; null: the same row
};
/// Copies all pieces in one pass, 16 bytes a thread and step. Preconditions: D % 8 == 0, pitches too, at most
/// PushMap::kMaxHeads pieces.
std::unique_ptr<PreparedKernel> prepare_head_copy(const std::vector<HeadPiece>& pieces, std::int64_t rows,
                                                  std::int64_t D);

/// A peer copy of one slab; the driver chooses what does it (between two devices the copy engine, on one device a
/// kernel).
struct SlabCopy {
  void* to;
  const void* from;
  std::int64_t bytes;
};
std::unique_ptr<PreparedKernel> prepare_slab_copies(std::vector<SlabCopy> copies);

/// The steps one after the other in one stream.
std::unique_ptr<PreparedKernel> prepare_sequence(std::vector<std::shared_ptr<PreparedKernel>> steps);

}  // namespace megaup::ops
