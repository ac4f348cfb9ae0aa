#include <string>

#include <cuda_runtime.h>

#include <megaup/comm/cuda/arrivals_cuda.cuh>
#include <megaup/comm/cuda/device_communicator_cuda.cuh>
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
  if (p < arrivals.senders && p != arrivals.self)
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(doors.word[p]), "r"(arrivals.epoch) : "memory");
  device::await(arrivals, p);
}

class DeviceBarrier final : public StreamBarrier {
 public:
  explicit DeviceBarrier(DeviceCommunicator& group)
      : group_(group), memory_(group.peer_memory((static_cast<std::size_t>(group.size()) + 1) * kFlagStride, 0)) {
    const auto words = [this](int rank) { return reinterpret_cast<std::uint32_t*>(memory_->base(rank)); };
    for (int p = 0; p < group.size(); ++p)
      doors_.word[p] = words(p) + static_cast<std::size_t>(group.rank()) * device::kWordStride;
    std::uint32_t* mine = words(group.rank());
    arrivals_ = {mine,
                 mine + static_cast<std::size_t>(group.size()) * device::kWordStride,
                 group.size(),
                 group.rank(),
                 0,
                 group.timeout_ns()};
  }

  void enqueue() override {
    ++arrivals_.epoch;
    meet<<<1, kMaxRanks, 0, static_cast<cudaStream_t>(group_.own_device().stream())>>>(doors_, arrivals_);
    core::check(cudaGetLastError(), "launch of a barrier");
  }

  core::Reason fault() override {
    std::uint32_t lost = 0;
    group_.own_device().copy_out(std::as_writable_bytes(std::span(&lost, 1)),
                                 reinterpret_cast<const std::byte*>(arrivals_.lost));
    if (lost == 0) return {};
    return group_.title(static_cast<int>(lost) - 1) + " has not come to a barrier of the devices";
  }

 private:
  DeviceCommunicator& group_;
  std::unique_ptr<PeerMemory> memory_;
  Doors doors_{};
  device::Arrivals arrivals_{};
};

}  // namespace

std::unique_ptr<StreamBarrier> device_barrier(DeviceCommunicator& group) {
  if (group.size() > kMaxRanks)
    throw core::Error(core::ErrorKind::cell, "a barrier of devices has at most " + std::to_string(kMaxRanks) +
                                                 " ranks, not " + std::to_string(group.size()));
  return std::make_unique<DeviceBarrier>(group);
}

}  // namespace megaup::comm::cuda
