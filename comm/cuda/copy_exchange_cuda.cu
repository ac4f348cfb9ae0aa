#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include <megaup/comm/cuda/arrivals_cuda.cuh>
#include <megaup/comm/cuda/device_communicator_cuda.cuh>
#include <megaup/comm/cuda/event_cuda.cuh>
#include <megaup/core/cuda_parts_cuda.cuh>

namespace megaup::comm::cuda {

namespace {

constexpr std::size_t kAlignment = 4096;
constexpr int kSets = 2;
constexpr int kMaxRanks = 1024;  // a thread each

__global__ void await_all(const device::Arrivals arrivals) { device::await(arrivals, static_cast<int>(threadIdx.x)); }

/// Each rank pushes its blocks to its peers, one stream a peer, and then the number of the exchange into a word of the
/// peer. A peer has two receive sets in turn: exchange e+2 begins after the peer's e+1 has come, which it sent after it had
/// read e. So nobody waits before sending.
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
        write_word_(reinterpret_cast<decltype(write_word_)>(core::driver_function("cuStreamWriteValue32", 11070))),
        send_(group.own_device(), slots() * slot_bytes_),
        recv_(group.peer_memory(kSets * slots() * slot_bytes_, 0)),
        words_(group.peer_memory((slots() * static_cast<std::size_t>(P_) + 1) * kFlagStride, 0)),
        epochs_(slots()),
        ready_(slots()),
        sent_(slots() * static_cast<std::size_t>(P_)) {}

  void assume_peers_arrived() override {
    // 0x3f3f3f3f is ahead of every epoch of a run.
    group_.own_device().fill(words_->base(group_.rank()), slots() * static_cast<std::size_t>(P_) * kFlagStride, 0x3f);
  }

  core::Reason fault() override {
    std::uint32_t lost = 0;
    group_.own_device().copy_out(std::as_writable_bytes(std::span(&lost, 1)),
                                 reinterpret_cast<const std::byte*>(lost_word()));
    if (lost == 0) return {};
    return group_.title(static_cast<int>(lost) - 1) + " has not sent its part of an exchange of " +
           std::to_string(shape().bytes_per_peer) + " bytes per peer";
  }
  std::string_view describe() const override { return name(Transport::copy_engine); }

 private:
  std::size_t slots() const { return static_cast<std::size_t>(shape().slots); }
  std::byte* do_send(int slot) const override { return send_.data() + slot_bytes_ * static_cast<std::size_t>(slot); }
  const std::byte* do_recv(int slot) const override { return recv_at(group_.rank(), slot); }

  void do_start(int slot) override {
    cudaStreamCaptureStatus capture{};
    core::check(cudaStreamIsCapturing(main(), &capture), "cudaStreamIsCapturing");
    if (capture != cudaStreamCaptureStatusNone)
      throw core::Error(
          core::ErrorKind::usage,
          "an exchange by copy engines cannot be captured in a graph: each exchange has a number of its own, "
          "which a replay would repeat");
    const std::uint32_t epoch = ++epochs_[static_cast<std::size_t>(slot)];
    ready_[static_cast<std::size_t>(slot)].record(main());
    for (int k = 1; k <= P_; ++k) {  // the own block last
      const int peer = (group_.rank() + k) % P_;
      const auto stream = static_cast<cudaStream_t>(group_.own_device().side_stream((k - 1) % side_streams()));
      ready_[static_cast<std::size_t>(slot)].let_wait(stream);
      if (shape().bytes_per_peer > 0)
        core::check(cudaMemcpyAsync(recv_at(peer, slot) + block(group_.rank()), send(slot) + block(peer),
                                    shape().bytes_per_peer, cudaMemcpyDeviceToDevice, stream),
                    "a copy to a peer");
      if (peer != group_.rank())
        core::check(write_word_(stream, reinterpret_cast<CUdeviceptr>(word(peer, slot, group_.rank())), epoch, 0),
                    "cuStreamWriteValue32");
      sent(slot, k).record(stream);
    }
  }

  void do_finish(int slot) override {
    for (int k = 1; k <= P_; ++k) sent(slot, k).let_wait(main());
    if (P_ == 1) return;
    const device::Arrivals arrivals{
        word(group_.rank(), slot, 0), lost_word(), P_, group_.rank(), epochs_[static_cast<std::size_t>(slot)],
        group_.timeout_ns()};
    await_all<<<1, static_cast<unsigned>((P_ + 31) / 32 * 32), 0, main()>>>(arrivals);
    core::check(cudaGetLastError(), "launch of a wait");
  }

  /// One for each peer. Ranks that share a device share its hardware queues (CUDA_DEVICE_MAX_CONNECTIONS, at most 32),
  /// and a wait of one rank holds up what lies behind it in the same queue, so there each has one: 8 ranks are 16
  /// streams.
  int side_streams() const { return group_.choice().share ? 1 : P_; }
  cudaStream_t main() const { return static_cast<cudaStream_t>(group_.own_device().stream()); }
  std::size_t block(int rank) const { return shape().bytes_per_peer * static_cast<std::size_t>(rank); }
  std::byte* recv_at(int rank, int slot) const {
    const std::size_t set = epochs_[static_cast<std::size_t>(slot)] % kSets;
    return recv_->base(rank) + slot_bytes_ * (set * slots() + static_cast<std::size_t>(slot));
  }
  std::uint32_t* word(int at, int slot, int from) const {
    return reinterpret_cast<std::uint32_t*>(words_->base(at)) +
           device::kWordStride * static_cast<std::size_t>(slot * P_ + from);
  }
  std::uint32_t* lost_word() const { return word(group_.rank(), shape().slots, 0); }
  const Event& sent(int slot, int k) const { return sent_[static_cast<std::size_t>(slot * P_ + k - 1)]; }

  DeviceCommunicator& group_;
  int P_;
  std::size_t slot_bytes_;
  CUresult (*write_word_)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  core::DeviceBuffer send_;
  std::unique_ptr<PeerMemory> recv_, words_;
  std::vector<std::uint32_t> epochs_;  // by slot
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
