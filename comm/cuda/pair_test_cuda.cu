#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <megaup/comm/cuda/device_communicator_cuda.cuh>
#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm::cuda {

namespace {

constexpr std::int64_t kWords = 16 * 1024;  // 64 KiB a pair and way
constexpr std::size_t kBytes = kWords * sizeof(std::uint32_t);
enum Way { by_stores, by_copy, by_loads, kWays };
constexpr std::array<const char*, kWays> kWayNames{"stores of a kernel", "a copy", "loads of a kernel"};

/// No two pairs, ways or places have the same word.
__host__ __device__ std::uint32_t word(int from, int to, int way, std::int64_t i) {
  const std::uint32_t pair = static_cast<std::uint32_t>((from * 1024 + to) * kWays + way);
  return (pair + 1) * 0x9e3779b9u ^ static_cast<std::uint32_t>(i) * 0x85ebca6bu;
}

__global__ void write(std::uint32_t* to, int from, int to_rank, int way) {
  for (std::int64_t i = threadIdx.x; i < kWords; i += blockDim.x) to[i] = word(from, to_rank, way, i);
}

__global__ void read(std::uint32_t* to, const std::uint32_t* from) {
  for (std::int64_t i = threadIdx.x; i < kWords; i += blockDim.x) to[i] = from[i];
}

/// The memory of a rank: what each peer writes by stores, what each peer writes by copies, what this rank offers to each
/// peer's loads.
class PairTest {
 public:
  explicit PairTest(DeviceCommunicator& group)
      : group_(group),
        device_(group.own_device()),
        stream_(static_cast<cudaStream_t>(device_.stream())),
        memory_(group.peer_memory(kWays * static_cast<std::size_t>(group.size()) * kBytes, 0)),
        mine_(device_, kBytes) {}

  void send() {
    const int me = group_.rank();
    for (int peer = 0; peer < group_.size(); ++peer) {
      write<<<1, 256, 0, stream_>>>(at(peer, by_stores, me), me, peer, by_stores);
      write<<<1, 256, 0, stream_>>>(mine_.as<std::uint32_t>(), me, peer, by_copy);
      core::check(cudaMemcpyAsync(at(peer, by_copy, me), mine_.data(), kBytes, cudaMemcpyDeviceToDevice, stream_),
                  "a copy to a peer");
      write<<<1, 256, 0, stream_>>>(at(me, by_loads, peer), me, peer, by_loads);
    }
    core::check(cudaGetLastError(), "a pattern");
    device_.synchronize();
  }

  /// What is wrong with what came; all ranks have sent.
  core::Reason finding() {
    const int me = group_.rank();
    for (int peer = 0; peer < group_.size(); ++peer) {
      for (const Way way : {by_stores, by_copy})
        if (auto why = difference(at(me, way, peer), peer, me, way)) return why;
      read<<<1, 256, 0, stream_>>>(mine_.as<std::uint32_t>(), at(peer, by_loads, me));
      core::check(cudaGetLastError(), "loads from a peer");
      if (auto why = difference(mine_.as<std::uint32_t>(), peer, me, by_loads)) return why;
    }
    return {};
  }

 private:
  std::uint32_t* at(int rank, Way way, int peer) const {
    return reinterpret_cast<std::uint32_t*>(memory_->base(rank) +
                                            static_cast<std::size_t>(way * group_.size() + peer) * kBytes);
  }

  core::Reason difference(const std::uint32_t* found, int from, int to, Way way) {
    std::vector<std::uint32_t> words(kWords);
    device_.copy_out(std::as_writable_bytes(std::span(words)), reinterpret_cast<const std::byte*>(found));
    for (std::int64_t i = 0; i < kWords; ++i)
      if (const std::uint32_t expected = word(from, to, way, i); words[static_cast<std::size_t>(i)] != expected)
        return "wrong data from " + group_.title(from) + " to " + group_.title(to) + " by " +
               kWayNames[static_cast<std::size_t>(way)] + ": word " + std::to_string(i) + " is " +
               std::to_string(words[static_cast<std::size_t>(i)]) + ", expected " + std::to_string(expected) +
               ": these devices cannot be used together (look at nvidia-smi topo -p2p rw, and whether an IOMMU is on)";
    return {};
  }

  DeviceCommunicator& group_;
  core::Device& device_;
  cudaStream_t stream_;
  std::unique_ptr<PeerMemory> memory_;
  core::DeviceBuffer mine_;
};

}  // namespace

void test_pairs(DeviceCommunicator& group) {
  // After each step, because a rank that fails must not leave the others in the next one.
  const auto agreed = [&](const auto& step) {
    core::Reason reason;
    try {
      reason = step();
    } catch (const core::Error& error) {
      reason = std::string("the test of all pairs of devices: ") + error.what();
    }
    agree(group, core::ErrorKind::environment, reason);
  };
  std::unique_ptr<PairTest> test;
  agreed([&] {
    test = std::make_unique<PairTest>(group);
    return core::Reason();
  });
  agreed([&] {
    test->send();
    return core::Reason();
  });
  agreed([&] { return test->finding(); });
}

}  // namespace megaup::comm::cuda
