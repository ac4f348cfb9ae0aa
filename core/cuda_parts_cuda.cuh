#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include <megaup/core/cuda_devices.hpp>

namespace megaup::core {

/// Throws Error{environment} with what was tried and the runtime's words.
void check(cudaError_t error, const char* what);
/// Makes a device the calling thread's for a while: a thread that frees what another rank had must go on with its own
/// device, or its events and streams belong to two.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

/// Memory of the current device. Throws Error{cell} with the bytes wanted, free and in all.
std::byte* allocate_on(const CudaDevice& device, std::size_t bytes);

/// The function `name` of the driver, as it was in that version of CUDA (12040 = 12.4). Taken at run time, so that the
/// program starts where there is no driver. Throws Error{environment}.
void* driver_function(const char* name, unsigned version);
void check(CUresult result, const char* what);

/// Some of a device's multiprocessors: a green context, given back with the last copy. Empty: no partition.
using Partition = std::shared_ptr<CUgreenCtx_st>;
/// Disjoint, equally large, as large as they can be; and how many multiprocessors each has.
std::pair<std::vector<Partition>, int> make_partitions(const CudaDevice& device, int parts);
/// A stream whose kernels run on those multiprocessors.
cudaStream_t partition_stream(const Partition& partition);

}  // namespace megaup::core
