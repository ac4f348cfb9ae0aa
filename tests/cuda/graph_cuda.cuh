#pragma once

#include <exception>
#include <memory>

#include <cuda_runtime.h>

#include <megaup/core/device.hpp>
#include <megaup/ops/prepared_kernel_cuda.cuh>

namespace megaup::cuda_tests {

/// Launches captured in a graph, to be replayed in the stream that they were captured in, which outlives it.
class Graph {
 public:
  template <class Launch>
  Graph(cudaStream_t stream, int launches, const Launch& launch)
      : stream_(stream), executable_(nullptr, cudaGraphExecDestroy) {
    using ops::device::check;
    // Other ranks are threads that prepare, allocate and capture at the same time.
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin of a capture");
    std::exception_ptr failure;
    try {
      for (int i = 0; i < launches; ++i) launch();
    } catch (...) {
      failure = std::current_exception();
    }
    cudaGraph_t captured = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream, &captured);  // always, else the stream goes on capturing
    const std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)> graph(captured, cudaGraphDestroy);
    if (failure) std::rethrow_exception(failure);
    check(ended, "end of a capture");
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, captured, 0), "graph");
    executable_.reset(executable);
    check(cudaGraphUpload(executable, stream), "graph");
    check(cudaStreamSynchronize(stream), "graph");
  }
  template <class Launch>
  Graph(core::Device& device, int launches, const Launch& launch)
      : Graph(static_cast<cudaStream_t>(device.stream()), launches, launch) {}

  void replay() const { ops::device::check(cudaGraphLaunch(executable_.get(), stream_), "replay of a graph"); }

 private:
  cudaStream_t stream_;
  std::unique_ptr<CUgraphExec_st, decltype(&cudaGraphExecDestroy)> executable_;
};

}  // namespace megaup::cuda_tests
