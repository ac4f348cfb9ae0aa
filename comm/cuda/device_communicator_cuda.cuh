#pragma once

#include <memory>
#include <string>
#include <vector>

#include <megaup/comm/communicator.hpp>
#include <megaup/comm/with_device.hpp>

namespace megaup::comm::cuda {

/// What ranks tell each other of the device that they have. Goes through all_gather as bytes.
struct Seat {
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::int32_t launch_rank = 0;
  char uuid[48] = {};
};

class NcclWorld;

/// Memory that other processes may still have mapped when its rank lets go of it: freed in the next peer_memory() of the
/// group, to which they come after they have let go too.
using Retired = std::vector<std::shared_ptr<std::byte>>;

/// A host communicator whose memory and exchanges are those of devices.
class DeviceCommunicator final : public Communicator {
 public:
  DeviceCommunicator(Communicator& host, std::shared_ptr<core::Device> device, const DeviceChoice& choice,
                     std::vector<Seat> seats, std::unique_ptr<Communicator> owned = nullptr);

  const std::vector<Seat>& seats() const { return seats_; }
  const DeviceChoice& choice() const { return choice_; }
  core::Device& own_device() const { return *device_; }
  const std::shared_ptr<Retired>& retired() const { return retired_; }
  std::uint64_t timeout_ns() const { return static_cast<std::uint64_t>(1e9 * choice_.patience.count()); }
  /// "rank 1 (device 0, GPU-...)", the rank being that of the launch.
  std::string title(int rank) const;

 private:
  std::string_view do_backend() const override { return host_.backend(); }
  void do_barrier() override { host_.barrier(); }
  bool do_any(bool mine) override { return host_.any(mine); }
  void do_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  std::unique_ptr<Communicator> do_split(int colour) override;
  std::unique_ptr<Exchange> do_exchange(const ExchangeShape& shape) override;
  std::unique_ptr<PeerMemory> do_peer_memory(std::size_t bytes, std::size_t flags) override;
  core::Reason do_no_peer_memory() const override { return {}; }
  core::Reason do_no_transport(Transport transport) const override;
  Placement do_placement() const override { return host_.placement(); }
  std::string_view do_fabric() const override { return fabric_; }
  core::Device* do_device() const override { return device_.get(); }
  std::unique_ptr<StreamBarrier> do_stream_barrier() override;
  void do_abort(const core::Error& cause) noexcept override { host_.abort(cause); }

  std::unique_ptr<Communicator> owned_;
  Communicator& host_;
  std::shared_ptr<core::Device> device_;
  DeviceChoice choice_;
  std::vector<Seat> seats_;
  std::string fabric_;
  std::shared_ptr<NcclWorld> nccl_, nccl_zero_cta_;
  std::shared_ptr<Retired> retired_ = std::make_shared<Retired>();
};

/// Throws the same error on all ranks if any rank has a reason; that of the lowest one, with its number.
void agree(Communicator& group, core::ErrorKind kind, const core::Reason& mine);

/// What rank `from` has of its own made known to all: T is plain bytes.
template <class T>
std::vector<T> gather(Communicator& group, const T& mine) {
  const std::vector<std::byte> bytes = group.all_gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<T> all(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(all.data()));
  return all;
}

/// Throws Error{environment} when a pair of ranks reads or writes something else than what was written. Collective.
void test_pairs(DeviceCommunicator& group);

std::unique_ptr<PeerMemory> device_memory(DeviceCommunicator& group, std::size_t bytes);
std::unique_ptr<Exchange> copy_exchange(DeviceCommunicator& group, const ExchangeShape& shape);
std::unique_ptr<StreamBarrier> device_barrier(DeviceCommunicator& group);

/// The communicator of NCCL for the group, with its policy to use no multiprocessors where it can, or the default one.
/// Collective.
std::shared_ptr<NcclWorld> nccl_world(DeviceCommunicator& group, bool zero_cta);
/// Throws Error{cell} on all ranks where NCCL registers no window or launches kernels, and the shape's transport needs a
/// window or no kernels. Collective.
std::unique_ptr<Exchange> nccl_exchange(DeviceCommunicator& group, std::shared_ptr<NcclWorld> world,
                                        const ExchangeShape& shape);

}  // namespace megaup::comm::cuda
