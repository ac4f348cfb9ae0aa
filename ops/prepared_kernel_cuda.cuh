#pragma once

#include <memory>
#include <string>

#include <cuda_runtime.h>

#include <megaup/core/error.hpp>

namespace megaup::ops {

namespace device {

/// Throws Error{environment} with the step and CUDA's own words.
inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw core::Error(core::ErrorKind::environment, std::string(what) + ": " + cudaGetErrorString(error));
}

}  // namespace device

/// A kernel with its parameters. run() only launches: it allocates nothing, waits for nothing, and can be captured in a
/// graph.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  virtual void run(cudaStream_t stream) const = 0;
};

}  // namespace megaup::ops
