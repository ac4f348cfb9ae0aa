#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <megaup/comm/cuda/event_cuda.cuh>
#include <megaup/comm/cuda/meetings_cuda.cuh>
#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm::cuda {

namespace {

constexpr std::size_t kAlignment = 4096;
constexpr std::uint32_t kSets = 2;
constexpr int kMaxRanks = 1024;  // a thread each

__global__ void await_blocks(const device::Arrivals arrivals, std::uint32_t set) {
  const std::uint32_t epoch = *arrivals.epoch;
  if (threadIdx.x == 0 && epoch % kSets != set) device::report(arrivals.patience.lost, device::kOutOfTurn);
  device::await_all(arrivals, epoch);
}

/// Each rank pushes its blocks to its peers, one stream a peer, and after each the number of the exchange into a word
/// of the peer, also by a copy: no multiprocessor is needed while others work. A peer has two receive sets in turn:
/// exchange e+2 begins after the peer's e+1 has come, which it sent after it had read e. So nobody waits before
/// sending.
///
/// Graphs   numbers are counted on the device, by the kernel that waits. The sets are addresses, chosen when copies are
///          enqueued: a graph must capture an even number of exchanges of a slot. The kernel knows a set that is not
///          the number's, and fault() says so.
///
/// Picture, rank 1 of 4:  main stream  ──ready──────────────────────────▶ wait kernel (words of 0, 2, 3) ──▶ readers
///                        side 0       ──▶ block to 2, word ──▶ sent ────▲
///                        side 1       ──▶ block to 3, word ──▶ sent ────▲      (side 3: the own block)
class CopyExchange final : public Exchange {
 public:
  CopyExchange(DeviceCommunicator& group, const ExchangeShape& shape)
      : Exchange(shape),
        group_(group),
        P_(group.size()),
        slot_bytes_((shape.bytes_per_peer * static_cast<std::size_t>(P_) + kAlignment - 1) / kAlignment * kAlignment),
        send_(group.own_device(), slots() * slot_bytes_),
        recv_(group.peer_memory(kSets * slots() * slot_bytes_, 0)),
        meetings_(group, shape.slots),
        sets_(slots()),
        ready_(slots()),
        sent_(slots() * static_cast<std::size_t>(P_)) {
    for (int k = 1; k <= P_; ++k) group_.own_device().side_stream(side(k));  // made now, not in a run
  }

  int receive_sets() const override { return kSets; }
  void assume_peers_arrived() override { meetings_.assume_peers_arrived(); }

  core::Reason fault() override {
    const std::uint32_t lost = meetings_.lost();
    if (lost == 0) return {};
    if (lost == device::kOutOfTurn)
      return "a graph with exchanges by copy engines was replayed out of turn: receive buffers take turns, so capture "
             "an even number of runs, and replay it after an even number of others";
    return group_.title(static_cast<int>(lost) - 1) + " has not sent its part of an exchange of " +
           std::to_string(shape().bytes_per_peer) + " bytes per peer";
  }
  std::string_view describe() const override { return name(Transport::copy_engine); }

 private:
  std::size_t slots() const { return static_cast<std::size_t>(shape().slots); }
  std::byte* do_send(int slot) const override { return send_.data() + slot_bytes_ * static_cast<std::size_t>(slot); }
  const std::byte* do_recv(int slot) const override { return recv_at(group_.rank(), slot); }

  void do_start(int slot) override {
    std::uint32_t& set = sets_[static_cast<std::size_t>(slot)];
    set = (set + 1) % kSets;
    const bool beside = !group_.choice().share || !capturing();
    ready_[static_cast<std::size_t>(slot)].record(main());
    for (int k = 1; k <= P_; ++k) {  // the own block last
      const int peer = (group_.rank() + k) % P_;
      const cudaStream_t stream = beside ? static_cast<cudaStream_t>(group_.own_device().side_stream(side(k))) : main();
      ready_[static_cast<std::size_t>(slot)].let_wait(stream);
      if (shape().bytes_per_peer > 0)
        core::check(cudaMemcpyAsync(recv_at(peer, slot) + block(group_.rank()), send(slot) + block(peer),
                                    shape().bytes_per_peer, cudaMemcpyDeviceToDevice, stream),
                    "a copy to a peer");
      if (peer != group_.rank())
        core::check(cudaMemcpyAsync(meetings_.word(peer, slot, group_.rank()), meetings_.arrivals(slot).epoch,
                                    sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream),
                    "a copy of the exchange's number to a peer");
      sent(slot, k).record(stream);
    }
  }

  void do_finish(int slot) override {
    for (int k = 1; k <= P_; ++k) sent(slot, k).let_wait(main());
    if (P_ == 1) return;
    await_blocks<<<1, static_cast<unsigned>((P_ + 31) / 32 * 32), 0, main()>>>(meetings_.arrivals(slot),
                                                                               sets_[static_cast<std::size_t>(slot)]);
    core::check(cudaGetLastError(), "launch of a wait");
  }

  /// The side stream of a peer: one for each. Ranks that share a device share its hardware queues
  /// (CUDA_DEVICE_MAX_CONNECTIONS, at most 32), and a wait of one rank holds up what lies behind it in the same queue,
  /// so there each has one: 8 ranks are 16 streams. Which queues the branches of a graph get is not ours to say: a
  /// graph of such a rank has none.
  int side(int k) const { return group_.choice().share ? 0 : k - 1; }
  bool capturing() const {
    cudaStreamCaptureStatus status{};
    core::check(cudaStreamIsCapturing(main(), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }
  cudaStream_t main() const { return static_cast<cudaStream_t>(group_.own_device().stream()); }
  std::size_t block(int rank) const { return shape().bytes_per_peer * static_cast<std::size_t>(rank); }
  std::byte* recv_at(int rank, int slot) const {
    const std::size_t set = sets_[static_cast<std::size_t>(slot)];
    return recv_->base(rank) + slot_bytes_ * (set * slots() + static_cast<std::size_t>(slot));
  }
  const Event& sent(int slot, int k) const { return sent_[static_cast<std::size_t>(slot * P_ + k - 1)]; }

  DeviceCommunicator& group_;
  int P_;
  std::size_t slot_bytes_;
  core::DeviceBuffer send_;
  std::unique_ptr<PeerMemory> recv_;
  Meetings meetings_;                // a series a slot
  std::vector<std::uint32_t> sets_;  // by slot: the set of the last exchange, its number modulo kSets
  std::vector<Event> ready_, sent_;
};

}  // namespace

std::unique_ptr<Exchange> copy_exchange(DeviceCommunicator& group, const ExchangeShape& shape) {
  if (group.size() > kMaxRanks)
    throw core::Error(core::ErrorKind::cell,
                      "an exchange by copy engines has at most " + std::to_string(kMaxRanks) + " ranks");
  return std::make_unique<CopyExchange>(group, shape);
}

}  // namespace megaup::comm::cuda
