#include <algorithm>
#include <string>
#include <utility>

#include <unistd.h>

#include <cuda_runtime.h>

#include <megaup/comm/cuda/device_communicator_cuda.cuh>
#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm::cuda {

namespace {

// What another process maps is a whole allocation of the driver, which has this granularity: none is shared with other
// memory of the rank.
constexpr std::size_t kMapped = std::size_t{2} << 20;

/// Memory that may be reached by peers until the last of them in this process lets go of it.
using Owned = std::shared_ptr<std::byte>;

Owned allocate(core::Device& device, std::size_t bytes) {
  return {device.allocate(bytes), [index = device.index()](std::byte* memory) {
            const core::OnDevice there(index);
            cudaFree(memory);
          }};
}

/// A rank's memory as another rank takes it: a pointer within the process, a handle outside.
struct Offer {
  const Owned* memory = nullptr;
  cudaIpcMemHandle_t handle{};
};

Owned map(const Offer& offer, int device) {
  void* memory = nullptr;
  const core::OnDevice there(device);
  core::check(cudaIpcOpenMemHandle(&memory, offer.handle, cudaIpcMemLazyEnablePeerAccess),
              "memory of another process (its device may be hidden from this one by the launcher, as by Slurm's "
              "--gpus-per-task and --gpu-bind, or by a container: let every rank see all devices of the node)");
  return {static_cast<std::byte*>(memory), [](std::byte* mapped) { cudaIpcCloseMemHandle(mapped); }};
}

class DeviceMemory final : public PeerMemory {
 public:
  /// `retired`: set where other processes map this rank's part.
  DeviceMemory(std::size_t bytes, std::vector<Owned> ranks, Owned mine, std::shared_ptr<Retired> retired)
      : PeerMemory(bytes, 0), ranks_(std::move(ranks)), mine_(std::move(mine)), retired_(std::move(retired)) {}
  ~DeviceMemory() override {
    if (retired_) retired_->push_back(std::move(mine_));
  }

 private:
  std::byte* do_base(int rank) const override { return ranks_[static_cast<std::size_t>(rank)].get(); }
  [[noreturn]] static void no_flags() {
    throw core::Error(core::ErrorKind::cell, "peer memory of devices has no flags of the host");
  }
  std::uint64_t* do_flag(int, std::size_t) const override { no_flags(); }
  std::uint64_t& do_own_flag(std::size_t) const override { no_flags(); }
  void do_wait(std::size_t, std::uint64_t, const std::function<std::string()>&) override { no_flags(); }

  std::vector<Owned> ranks_;
  Owned mine_;
  std::shared_ptr<Retired> retired_;
};

}  // namespace

std::unique_ptr<PeerMemory> device_memory(DeviceCommunicator& group, std::size_t bytes) {
  const auto me = static_cast<std::size_t>(group.rank());
  const auto& seats = group.seats();
  const auto elsewhere = [&](const Seat& seat) { return seat.process != seats[me].process; };
  const bool mapped = std::ranges::any_of(seats, elsewhere);
  if (mapped) {
    group.barrier();
    group.retired()->clear();
  }
  Owned mine;
  Offer offer;
  core::Reason reason;
  try {
    mine = allocate(group.own_device(),
                    mapped ? (bytes + kMapped - 1) / kMapped * kMapped + kMapped : std::max<std::size_t>(bytes, 1));
    group.own_device().fill(mine.get(), bytes, 0);
    if (mapped) core::check(cudaIpcGetMemHandle(&offer.handle, mine.get()), "a handle for other processes");
    offer.memory = &mine;
  } catch (const core::Error& error) {
    reason = error.what();
  }
  agree(group, core::ErrorKind::cell, reason);

  const std::vector<Offer> offers = gather(group, offer);
  std::vector<Owned> ranks(offers.size());
  try {
    for (std::size_t r = 0; r < offers.size(); ++r)
      ranks[r] = elsewhere(seats[r]) ? map(offers[r], group.own_device().index()) : *offers[r].memory;
  } catch (const core::Error& error) {
    reason = error.what();
  }
  agree(group, core::ErrorKind::cell, reason);  // and a barrier: `mine` of every rank has been taken
  return std::make_unique<DeviceMemory>(bytes, std::move(ranks), std::move(mine), mapped ? group.retired() : nullptr);
}

}  // namespace megaup::comm::cuda
