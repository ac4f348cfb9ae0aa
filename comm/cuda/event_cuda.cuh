#pragma once

#include <utility>

#include <cuda_runtime.h>

#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm::cuda {

/// Orders two streams.
class Event {
 public:
  Event() { core::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "an event"); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  void record(cudaStream_t stream) const { core::check(cudaEventRecord(event_, stream), "an event"); }
  void let_wait(cudaStream_t stream) const { core::check(cudaStreamWaitEvent(stream, event_, 0), "an event"); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace megaup::comm::cuda
