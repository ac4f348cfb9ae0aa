#include <string>

#include <cuda_runtime.h>

#include <megaup/comm/cuda/meetings_cuda.cuh>
#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm::cuda {

namespace {

constexpr int kMaxRanks = 32;

struct Doors {
  std::uint32_t* word[kMaxRanks];  // of this rank in every peer's memory
};

/// Thread p opens the door of peer p and waits for peer p.
__global__ void meet(const Doors doors, const device::Arrivals arrivals) {
  const int p = static_cast<int>(threadIdx.x);
  const std::uint32_t epoch = *arrivals.epoch;
  if (p < arrivals.senders && p != arrivals.self)
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(doors.word[p]), "r"(epoch) : "memory");
  device::await_all(arrivals, epoch);
}

class DeviceBarrier final : public StreamBarrier {
 public:
  explicit DeviceBarrier(DeviceCommunicator& group) : group_(group), meetings_(group, 1) {
    for (int p = 0; p < group.size(); ++p) doors_.word[p] = meetings_.word(p, 0, group.rank());
  }

  void enqueue() override {
    meet<<<1, kMaxRanks, 0, static_cast<cudaStream_t>(group_.own_device().stream())>>>(doors_, meetings_.arrivals(0));
    core::check(cudaGetLastError(), "launch of a barrier");
  }

  core::Reason fault() override {
    const std::uint32_t lost = meetings_.lost();
    if (lost == 0) return {};
    return group_.title(static_cast<int>(lost) - 1) + " has not come to a barrier of the devices";
  }

 private:
  DeviceCommunicator& group_;
  Meetings meetings_;
  Doors doors_{};
};

}  // namespace

std::unique_ptr<StreamBarrier> device_barrier(DeviceCommunicator& group) {
  if (group.size() > kMaxRanks)
    throw core::Error(core::ErrorKind::cell, "a barrier of devices has at most " + std::to_string(kMaxRanks) +
                                                 " ranks, not " + std::to_string(group.size()));
  return std::make_unique<DeviceBarrier>(group);
}

}  // namespace megaup::comm::cuda
