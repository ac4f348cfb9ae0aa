#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <megaup/comm/cuda/device_communicator_cuda.cuh>
#include <megaup/core/cuda_devices.hpp>
#include <megaup/core/nvml.hpp>

namespace megaup::comm::cuda {

namespace {

/// Whether NVLink connects two devices, which this process need not see: NVML knows those that a launcher hides. Without
/// NVML's answer a hidden device counts as not linked.
bool linked(const Seat& from, const Seat& to) {
  if (const auto nvlink = core::nvml_nvlink(from.uuid, to.uuid)) return *nvlink;
  const auto devices = core::cuda_devices();
  const auto a = std::ranges::find(devices, std::string(from.uuid), &core::CudaDevice::uuid);
  const auto b = std::ranges::find(devices, std::string(to.uuid), &core::CudaDevice::uuid);
  return a != devices.end() && b != devices.end() && core::cuda_link(a->index, b->index) == "nvlink";
}

/// Two ranks on one device, or one rank alone: nothing crosses a link.
std::string fabric_of(const std::vector<Seat>& seats) {
  std::set<std::string> devices;
  for (const Seat& seat : seats) devices.insert(seat.uuid);
  if (devices.size() < seats.size() || seats.size() == 1) return "emulated";
  for (std::size_t a = 0; a < seats.size(); ++a)
    for (std::size_t b = a + 1; b < seats.size(); ++b)
      if (!linked(seats[a], seats[b])) return "pcie";
  return "nvlink";
}

}  // namespace

void agree(Communicator& group, core::ErrorKind kind, const core::Reason& mine) {
  const auto reasons = group.all_gather(std::string_view(mine ? *mine : std::string()));
  for (std::size_t rank = 0; rank < reasons.size(); ++rank)
    if (!reasons[rank].empty()) throw GroupError(kind, reasons[rank], static_cast<int>(rank));
}

DeviceCommunicator::DeviceCommunicator(Communicator& host, std::shared_ptr<core::Device> device,
                                       const DeviceChoice& choice, std::vector<Seat> seats,
                                       std::unique_ptr<Communicator> owned)
    : Communicator(host.rank(), host.size()),
      owned_(std::move(owned)),
      host_(host),
      device_(std::move(device)),
      choice_(choice),
      seats_(std::move(seats)),
      fabric_(fabric_of(seats_)) {}

std::string DeviceCommunicator::title(int rank) const {
  const Seat& seat = seats_[static_cast<std::size_t>(rank)];
  return "rank " + std::to_string(seat.launch_rank) + " (device " + std::to_string(seat.device) + ", " + seat.uuid +
         ")";
}

void DeviceCommunicator::do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  const std::vector<std::byte> gathered = host_.all_gather(mine);
  std::copy(gathered.begin(), gathered.end(), all.begin());
}

std::unique_ptr<Communicator> DeviceCommunicator::do_split(int colour) {
  std::unique_ptr<Communicator> part = host_.split(colour);
  Communicator& group = *part;
  auto seats = gather(group, seats_[static_cast<std::size_t>(rank())]);
  return std::make_unique<DeviceCommunicator>(group, device_, choice_, std::move(seats), std::move(part));
}

core::Reason DeviceCommunicator::do_no_transport(Transport transport) const {
  if (!by_nccl(transport)) return {};
  if (core::Reason reason = no_nccl()) return reason;
  for (std::size_t a = 0; a < seats_.size(); ++a)
    for (std::size_t b = a + 1; b < seats_.size(); ++b)
      if (std::string_view(seats_[a].uuid) == seats_[b].uuid)
        return "exchange " + std::string(name(transport)) + ": " + title(static_cast<int>(a)) + " and " +
               title(static_cast<int>(b)) + " share a device, which NCCL refuses: choose exchange: copy_engine";
  return {};
}

std::unique_ptr<Exchange> DeviceCommunicator::do_exchange(const ExchangeShape& shape) {
  ExchangeShape chosen = shape;
  Transport& transport = chosen.transport;
  if (transport == Transport::automatic) transport = choice_.transport;
  if (transport == Transport::automatic)
    transport = do_no_transport(Transport::nccl) ? Transport::copy_engine : Transport::nccl;
  if (core::Reason reason = do_no_transport(transport)) throw core::Error(core::ErrorKind::cell, *reason, rank());
  if (transport == Transport::copy_engine) return copy_exchange(*this, chosen);
  const bool zero_cta = transport == Transport::nccl_zero_cta;
  auto& world = zero_cta ? nccl_zero_cta_ : nccl_;
  if (!world) world = nccl_world(*this, zero_cta);
  return nccl_exchange(*this, world, chosen);
}

std::unique_ptr<PeerMemory> DeviceCommunicator::do_peer_memory(std::size_t bytes, std::size_t flags) {
  if (flags > 0)
    throw core::Error(core::ErrorKind::cell,
                      "peer memory of devices has no flags of the host (" + std::to_string(flags) +
                          " wanted): keep the words in the memory itself, which is zero at first",
                      rank());
  return device_memory(*this, bytes);
}

std::unique_ptr<StreamBarrier> DeviceCommunicator::do_stream_barrier() { return device_barrier(*this); }

}  // namespace megaup::comm::cuda
