#pragma once

#include <cuda_runtime.h>

#include <megaup/core/device.hpp>
#include <megaup/ops/prepared_kernel_cuda.cuh>

namespace megaup::cuda_tests {

/// Launches captured in a graph, to be replayed in their device's stream.
class Graph {
 public:
  template <class Launch>
  Graph(core::Device& device, int launches, const Launch& launch)
      : stream_(static_cast<cudaStream_t>(device.stream())) {
    using ops::device::check;
    // Other ranks are threads that prepare, allocate and capture at the same time.
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "begin of a capture");
    for (int i = 0; i < launches; ++i) launch();
    check(cudaStreamEndCapture(stream_, &graph_), "end of a capture");
    check(cudaGraphInstantiate(&executable_, graph_, 0), "graph");
    check(cudaGraphUpload(executable_, stream_), "graph");
    device.synchronize();
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  void replay() const { ops::device::check(cudaGraphLaunch(executable_, stream_), "replay of a graph"); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace megaup::cuda_tests
