#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <megaup/ops/arm.hpp>
#include <megaup/ops/device_reorder_cuda.cuh>
#include <megaup/ops/fused_kernels.hpp>

/// Parts that several arms on a device are built of.
namespace megaup::ops {

inline cudaStream_t stream_of(const core::Device& device) { return static_cast<cudaStream_t>(device.stream()); }

inline std::uint64_t patience_ns(const Context& context) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(context.patience).count());
}

/// Why no arm can run the problem on this communicator's device; nothing = it can: no device, an architecture that this
/// program is not built for, sizes that 32-bit rows do not hold, and what ops::unsound() says.
core::Reason unsound_on_device(const core::Problem& problem, const Context& context);
/// The same, and why the exchange cannot be done by this transport.
core::Reason unsound_on_device(const core::Problem& problem, const Context& context, comm::Transport transport);
/// ops/fused_kernels.hpp, asked of a device.
core::Reason no_fused_kernels(const core::Device& device);
/// The same. Throws Error{environment} where no_fused_kernels() has a reason.
Architecture architecture_of(const core::Device& device);
/// device_setting() with the architecture of the device. Throws as that does.
DeviceSetting fused_setting(const Context& context);
/// Throws Error{cell} naming the tensor unless its rows start at multiples of 16 bytes, as bulk tensor copies need.
void require_aligned_rows(const Operands& operands);

/// The wide matrix [rows, W] between GEMM and exchange, packed, on the device.
class DeviceWide {
 public:
  DeviceWide(core::Device& device, const Operands& operands, std::int64_t rows);
  core::Bf16Matrix matrix() const { return matrix_; }
  void poison(core::Device& device) { device.fill(memory_.data(), memory_.size(), 0xFF); }
  static std::int64_t bytes(const Operation& op, const core::Problem& problem, std::int64_t rows) {
    return rows * core::HeadLayout{problem, op.columns}.width() * core::kElementBytes;
  }

 private:
  core::DeviceBuffer memory_;
  core::Bf16Matrix matrix_;
};

/// Bytes of an exchange of slabs on a device, by peer copies: a send buffer and two receive buffers that take turns,
/// and one flag a peer, and the numbers of the exchanges. NCCL has no second receive buffer, and pages of 2 MiB; what
/// it keeps for itself is not counted.
std::int64_t device_exchange_bytes(const core::Problem& problem, std::int64_t slab_columns, std::int64_t rows,
                                   int slots);
/// Fills the send buffers, and through exchanges all sets of receive buffers, with 0xFF. Ranks: collective.
void poison_on_device(comm::Exchange& exchange, core::Device& device, int ranks);

/// Fills device memory with numbers like those of activations, a block of them again and again: what is timed must not
/// be zeros, on which a GPU draws less power and runs faster.
void fill_random(core::Device& device, std::byte* to, std::size_t bytes, int rank);
/// Exchange::assume_peers_arrived(), with all sets of receive buffers filled with such numbers, as if peers had sent
/// them.
void assume_peers_sent(comm::Exchange& exchange, core::Device& device, int ranks, int rank);

/// 32-bit words that ranks write on each other's devices to say how far they are, and words of this rank alone; all
/// zero at first. Words of peers are launch numbers, compared by their signed difference, and come in groups of P: word
/// i of a group is written by rank i.
///
/// Ranks: making it is collective.
class DeviceFlags {
 public:
  DeviceFlags(const Context& context, std::int64_t peer_words, std::int64_t local_words);

  std::uint32_t* of_rank(int rank) const { return reinterpret_cast<std::uint32_t*>(peers_->base(rank)); }
  std::uint32_t* local() const { return local_.as<std::uint32_t>(); }

  /// Sets every word that a peer writes here far ahead.
  void assume_peers_arrived();
  /// After a synchronize(): a word of this rank, which is 0 afterwards.
  std::uint32_t take(int word);
  static std::int64_t bytes(std::int64_t peer_words, std::int64_t local_words) {
    return (peer_words + local_words) * static_cast<std::int64_t>(sizeof(std::uint32_t));
  }

 private:
  core::Device* device_;
  int rank_, ranks_;
  core::DeviceBuffer local_;
  std::unique_ptr<comm::PeerMemory> peers_;
};

}  // namespace megaup::ops
