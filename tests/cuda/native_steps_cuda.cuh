#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <megaup/ops/head_copy_cuda.cuh>
#include <megaup/ops/prepared_kernel_cuda.cuh>

/// The steps of a native GEMM -> A2A between buffers of one device.
namespace megaup::cuda_tests {

/// Copies the same rows of all pieces, whose addresses are absolute, in one pass. Precondition: D % 8 == 0, addresses
/// and leading dimensions alike.
std::unique_ptr<ops::PreparedKernel> prepare_head_copy(const std::vector<ops::HeadPiece>& pieces, std::int64_t rows,
                                                       std::int64_t D);

/// A copy of one slab; the driver chooses what does it (between two devices the copy engine, on one device a kernel).
struct SlabCopy {
  void* to;
  const void* from;
  std::int64_t bytes;
};
std::unique_ptr<ops::PreparedKernel> prepare_slab_copies(std::vector<SlabCopy> copies);

/// The steps one after the other in one stream.
std::unique_ptr<ops::PreparedKernel> prepare_sequence(std::vector<std::shared_ptr<ops::PreparedKernel>> steps);

}  // namespace megaup::cuda_tests
