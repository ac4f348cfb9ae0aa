#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/buffer.hpp>
#include <megaup/core/matrix.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::ops {

/// Heads side of one rank: Q, K and V as attention kernels take them. Each is a matrix [B*S, local heads * D] in
/// natural token order; out_* operations have Q alone (the others have no columns).
struct HeadTensors {
  std::array<core::Bf16Matrix, core::kHeadKinds> tensor;
  const core::Bf16Matrix& operator[](core::Head kind) const { return tensor[static_cast<std::size_t>(kind)]; }
};

/// All tensors of one operation on one rank, owned. Every arm of a cell works on the same ones.
///
///   hidden   [M, H]        X (qkv_fwd in), dYo (out_dgrad in), Yo (out_fwd out), dX (qkv_dgrad out)
///   weight   Wqkv [N, H] or Wo [H, Hq*D], in the declared row order
///   heads    Q, K, V of this rank, in memory that peers reach if the communicator offers it
///
/// Heads of a gemm_to_a2a operation come in kHeadSets sets: a launch may write into a peer's set while that peer still
/// reads the other one, so no barrier is needed at entry (docs/decisions/0005). `padding` widens every leading
/// dimension (tests of strided views).
///
/// Ranks: the constructor and the destructor are collective.
class Operands {
 public:
  static constexpr int kHeadSets = 2;

  Operands(const Operation& op, const core::Problem& problem, comm::Communicator& communicator,
           std::int64_t padding = 0, int host_threads = 1);

  const Operation& operation() const { return *op_; }
  const core::Problem& problem() const { return problem_; }
  int rank() const { return rank_; }
  int head_sets() const { return op_->kind == Kind::gemm_to_a2a ? kHeadSets : 1; }

  core::Bf16Matrix hidden() const { return hidden_; }
  core::Bf16Matrix weight() const { return weight_; }
  HeadTensors heads(int set = 0) const;
  /// Heads side of another rank of the group, by plain loads and stores. Requires reaches_peers().
  HeadTensors peer_heads(int rank, int set = 0) const;

  /// With a device (communicator.device()), the tensors above are the host's copies, which the gate fills and reads;
  /// peer_heads() then is not to be had. The real ones, with the same extents and leading dimensions:
  bool on_device() const { return device_ != nullptr; }
  core::Bf16Matrix device_hidden() const;
  core::Bf16Matrix device_weight() const;
  /// Heads side of any rank of the group, at an address that this rank's device reaches.
  HeadTensors device_heads(int rank, int set = 0) const;
  /// Copies the host's weight and inputs (the heads of an a2a_to_gemm) to the device, or the outputs back (one set, or
  /// all). Nothing to do without a device. Waits for the stream.
  void inputs_to_device();
  void outputs_from_device(std::optional<int> set = {});
  /// Fills the device's outputs, all sets with the gaps between rows, with 0xFF. Requires on_device().
  void poison_device_outputs();
  /// Cores of this rank for filling and checking the host's tensors.
  int host_threads() const { return host_threads_; }
  bool reaches_peers() const { return shared_ != nullptr && device_ == nullptr; }

  /// Bytes that one rank allocates for these tensors: what `plan` announces.
  static std::int64_t bytes(const Operation& op, const core::Problem& problem);

 private:
  HeadTensors carve(std::byte* base, int set) const;
  void pin_host_copies(comm::Communicator& group);
  std::size_t heads_bytes() const { return private_heads_.size(); }

  const Operation* op_;
  core::Problem problem_;
  std::int64_t padding_;
  int rank_;
  int host_threads_;
  core::Buffer hidden_memory_, weight_memory_, private_heads_;
  std::list<core::PinnedMemory> pinned_;  ///< with a device: the three above
  std::unique_ptr<comm::PeerMemory> shared_;
  core::Device* device_ = nullptr;
  core::DeviceBuffer device_hidden_, device_weight_;
  core::Bf16Matrix hidden_, weight_;
};

}  // namespace megaup::ops
