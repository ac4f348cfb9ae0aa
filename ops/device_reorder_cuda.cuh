#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <megaup/core/device.hpp>
#include <megaup/core/matrix.hpp>
#include <megaup/ops/head_copy_cuda.cuh>
#include <megaup/ops/head_runs.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/reorder.hpp>

namespace megaup::ops {

/// Rows and tables in device memory, made once.
template <class Piece>
class DeviceTable {
 public:
  DeviceTable(core::Device& device, const std::vector<Piece>& pieces)
      : memory_(device, pieces.size() * sizeof(Piece)), count_(static_cast<std::int32_t>(pieces.size())) {
    if (!pieces.empty()) device.copy_in(memory_.data(), std::as_bytes(std::span(pieces)));
  }
  const Piece* data() const { return memory_.template as<const Piece>(); }
  std::int32_t count() const { return count_; }

 private:
  core::DeviceBuffer memory_;
  std::int32_t count_;
};

/// The layout changes of ops/reorder.hpp on the device, one kernel each (slabs_to_wide: two where KV heads are
/// replicated). The wide matrix and the heads are fixed when it is made, the slabs are given at each call. Everything
/// is enqueued in the device's stream.
///
/// The wide matrix holds the rows of `rows` alone: its row 0 is token row rows.first.
class DeviceReorder {
 public:
  DeviceReorder(core::Device& device, const Operands& operands, core::Bf16Matrix wide, std::int64_t slab_rows,
                OnlyKind only = {});

  std::int64_t slab_columns() const { return slab_columns_; }
  /// Bytes of one slab: what goes to one peer.
  std::int64_t slab_bytes() const { return slab_rows_ * slab_columns_ * core::kElementBytes; }

  void wide_to_slabs(std::byte* slabs, RowRange rows) const;
  void slabs_to_heads(const std::byte* slabs, RowRange rows) const;
  void heads_to_slabs(std::byte* slabs, RowRange rows) const;
  void slabs_to_wide(const std::byte* slabs, RowRange rows) const;

  /// Bytes on the device that one object takes, for all heads in one slab or for one kind of them.
  static std::int64_t bytes(const Operation& op, const core::Problem& problem, OnlyKind only = {});

 private:
  HeadTable<HeadPiece> table(const DeviceTable<HeadPiece>& pieces) const;
  cudaStream_t stream() const { return static_cast<cudaStream_t>(device_->stream()); }

  core::Device* device_;
  std::int64_t slab_rows_, slab_columns_;
  std::int32_t features_;
  bool wide_loads_;
  DeviceTable<std::int32_t> rows_;  // [P][M]: row in the heads of each token row of each rank
  DeviceTable<HeadPiece> wide_to_slabs_, slabs_to_heads_, heads_to_slabs_, slabs_to_wide_;
  DeviceTable<HeadSum> sums_;
};

}  // namespace megaup::ops
