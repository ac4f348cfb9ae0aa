#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <unistd.h>

#include <cuda_runtime.h>

#include <megaup/comm/cuda/device_communicator_cuda.cuh>
#include <megaup/comm/device_choice.hpp>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm {

namespace cuda {
namespace {

using Devices = std::vector<std::unique_ptr<core::Device>>;

/// Rank 0 divides its device among all ranks, which are threads of one process.
std::shared_ptr<core::Device> take_part(Communicator& host, const DeviceChoice& choice,
                                        const std::vector<std::int64_t>& processes) {
  if (std::ranges::any_of(processes, [&](std::int64_t process) { return process != processes[0]; }))
    throw core::Error(
        core::ErrorKind::environment,
        "share_device: ranks are in several processes, and kernels of different processes do not run at the "
        "same time on one device: use communicator: threads");
  Devices parts;
  core::Reason reason;
  try {
    if (host.rank() == 0) parts = core::open_cuda_parts(0, host.size(), choice.patience);
  } catch (const core::Error& error) {
    reason = error.what();
  }
  agree(host, core::ErrorKind::cell, reason);
  Devices* all = gather(host, &parts).front();
  std::shared_ptr<core::Device> mine = std::move((*all)[static_cast<std::size_t>(host.rank())]);
  host.barrier();  // rank 0 keeps the list until all have taken their part
  return mine;
}

/// UUIDs of the devices that this process sees, in its order.
std::vector<std::string> visible() {
  std::vector<std::string> uuids;
  for (const core::CudaDevice& device : core::cuda_devices()) uuids.push_back(device.uuid);
  return uuids;
}

std::shared_ptr<core::Device> take_device(Communicator& host, const DeviceChoice& choice) {
  const DeviceViews views = device_views(host, visible());
  if (core::Reason reason = no_device_each(views)) throw GroupError(core::ErrorKind::cell, *reason);
  std::shared_ptr<core::Device> device;
  core::Reason reason;
  try {
    device = core::open_cuda_device(device_of(views, host.rank()), choice.patience);
  } catch (const core::Error& error) {
    reason = error.what();
  }
  agree(host, core::ErrorKind::environment, reason);
  return device;
}

Seat seat_of(const core::Device& device, int rank) {
  Seat seat{getpid(), device.index(), rank, {}};
  const std::string uuid = core::cuda_devices().at(static_cast<std::size_t>(device.index())).uuid;
  std::memcpy(seat.uuid, uuid.data(), std::min(uuid.size(), sizeof seat.uuid - 1));
  return seat;
}

/// Ranks of the same process reach each other's memory from now on.
core::Reason connect(const std::vector<Seat>& seats, int rank) {
  const Seat& mine = seats[static_cast<std::size_t>(rank)];
  for (const Seat& seat : seats) {
    if (seat.process != mine.process || seat.device == mine.device) continue;
    if (!core::cuda_reaches(mine.device, seat.device))
      return "device " + std::to_string(mine.device) + " (" + mine.uuid + ") cannot reach the memory of device " +
             std::to_string(seat.device) + " (" + seat.uuid +
             "): peer access is denied: use devices of one host that NVLink or one PCIe root connects";
    const cudaError_t error = cudaDeviceEnablePeerAccess(seat.device, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();  // forgets it
    else if (error != cudaSuccess)
      return std::string("peer access: ") + cudaGetErrorString(error);
  }
  return {};
}

}  // namespace
}  // namespace cuda

std::unique_ptr<Communicator> with_device(Communicator& host, const DeviceChoice& choice) {
  using core::ErrorKind;
  cuda::agree(host, ErrorKind::environment, core::no_cuda());
  if (const int nodes = host.placement().nodes; nodes > 1)
    throw core::Error(ErrorKind::environment,
                      "ranks are on " + std::to_string(nodes) +
                          " nodes: memory of devices is reached within one node only in this version");
  const bool share = choice.share && host.size() > 1;
  std::shared_ptr<core::Device> device = share
                                             ? cuda::take_part(host, choice, cuda::gather(host, std::int64_t{getpid()}))
                                             : cuda::take_device(host, choice);
  device->make_current();
  auto seats = cuda::gather(host, cuda::seat_of(*device, host.rank()));
  cuda::agree(host, ErrorKind::environment, cuda::connect(seats, host.rank()));
  auto group = std::make_unique<cuda::DeviceCommunicator>(host, std::move(device), choice, std::move(seats));
  if (choice.transport != Transport::automatic)
    cuda::agree(host, ErrorKind::environment, group->no_transport(choice.transport));
  cuda::test_pairs(*group);
  return group;
}

}  // namespace megaup::comm
