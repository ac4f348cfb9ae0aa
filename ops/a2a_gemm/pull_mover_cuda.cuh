#pragma once

#include <cuda_bf16.h>

#include <cutlass/arch/barrier.h>
#include <cute/arch/copy_sm90_tma.hpp>

#include <megaup/ops/a2a_gemm/pull_flags_cuda.cuh>

/// The mover: one warp in each block of threads that copies its share of the peers' heads to the staging buffer,
/// through shared memory by the bulk engine. It takes no SM from the GEMM, and every wait in the kernel is for work of
/// blocks that are resident.
namespace megaup::ops::device {

class Mover {
 public:
  __device__ Mover(const PullWork& work, PullShared& shared, std::uint32_t epoch)
      : work_(work), shared_(shared), epoch_(epoch), lane_(threadIdx.x % 32) {}

  __device__ void run(std::uint32_t mover, std::uint32_t movers) {
    stride_ = movers;
    index_ = mover;
    for (bool more = next_unit(), loading = false; more || loading; loading = more) {
      if (loading) {
        cutlass::arch::ClusterBarrier::wait(&shared_.loaded, phase_);
        phase_ ^= 1;
        if (copies_ > 1) add_copies();
        store();
        more = next_piece();
        // The slot may be used again when it has been read; that its bytes have landed is waited for while the next
        // load is under way.
        if (lane_ == 0) cute::tma_store_wait<0>();
        __syncwarp();
      }
      if (more) start();
      announce();
    }
  }

 private:
  __device__ bool next_piece() {
    if (left_ == piece_) return next_unit();
    left_ -= piece_;
    from_ += piece_;
    to_ += piece_;
    return true;
  }

  __device__ bool next_unit() {
    while (pass_ < 2 && index_ >= work_.passes[pass_].units) {
      index_ -= work_.passes[pass_].units;
      ++pass_;
    }
    if (pass_ == 2) return false;
    decode(work_.passes[pass_], index_);
    index_ += stride_;
    return true;
  }

  /// One decode for a whole unit: integer divisions for every piece would take issue slots from the GEMM.
  __device__ void decode(const PullPass& pass, std::uint32_t index) {
    int group, rest, block, unit, peer_index;
    pass.group_units(group, rest, static_cast<int>(index));
    const std::uint32_t first_block = pass.first_block + static_cast<std::uint32_t>(group) * work_.group_blocks;
    const int last = first_block + work_.group_blocks > work_.blocks ? 1 : 0;
    const int of_peers = static_cast<int>(pass.peers_units[last]);
    if (rest < of_peers) {
      pass.peer_units[last](peer_index, rest, rest);
      pass.block_units(block, unit, rest);
      const int own = work_.rank - work_.first + (work_.rank < work_.first ? work_.ranks : 0);
      int peer = work_.first + peer_index + (peer_index < own ? 0 : 1);  // in the order of the shards, without the own
      if (peer >= work_.ranks) peer -= work_.ranks;
      copy_unit(pass, static_cast<int>(first_block) + block, peer, static_cast<std::uint32_t>(unit) * pass.unit_bytes);
    } else {
      pass.sum_units(block, unit, rest - of_peers);
      sum_unit(static_cast<int>(first_block) + block, unit);
    }
  }

  __device__ void copy_unit(const PullPass& pass, int block, int peer, std::uint32_t offset) {
    int kind = 0;
    if (offset >= work_.block_ends[0]) {
      kind = offset >= work_.block_ends[1] ? 2 : 1;
      offset -= work_.block_ends[kind - 1];
    }
    const std::int64_t row_bytes = work_.row_bytes[kind];
    const int row_tile = block << work_.block_shift;
    home_ = peer * kPullKinds + kind;
    from_ = source_row(row_tile) * row_bytes + offset;
    to_ = work_.staging[kind] + (std::int64_t{peer} * work_.rows + row_tile * kPullTileRows) * row_bytes + offset;
    flag_ = work_.flags.landed() + std::int64_t{block} * (work_.ranks + 1) + peer;
    left_ = pass.unit_bytes;
    quanta_ = left_ / kPullQuantum;
    piece_ = left_ < kPullSlotBytes ? left_ : kPullSlotBytes;
    copies_ = 1;
  }

  __device__ void sum_unit(int block, int unit) {
    int sum, part;
    work_.sum_units_each(sum, part, unit);
    const int kind = 1 + (sum & 1);
    const std::int64_t row_bytes = work_.row_bytes[kind];
    const int row_tile = block << work_.block_shift;
    const std::int64_t offset = std::int64_t{part} * work_.sum_piece;
    home_ = (sum / 2) * static_cast<int>(work_.copies) * kPullKinds + kind;
    from_ = source_row(row_tile) * row_bytes + offset;
    to_ = work_.staging[kPullKinds] + (std::int64_t{sum} * work_.rows + row_tile * kPullTileRows) * row_bytes + offset;
    flag_ = work_.flags.landed() + std::int64_t{block} * (work_.ranks + 1) + work_.ranks;
    left_ = piece_ = work_.sum_piece;
    quanta_ = piece_ / kPullQuantum;
    copies_ = work_.copies;
  }

  __device__ std::int64_t source_row(int row_tile) const {
    int run, unused;
    work_.run_tiles(run, unused, row_tile);
    return (row_tile + work_.tile_shift[run]) * kPullTileRows;
  }

  /// Starts the loads of the current piece.
  __device__ void start() {
#pragma unroll 1
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      const int rank = home_ / kPullKinds + static_cast<int>(copy);
      if (rank == work_.rank || (ready_ >> rank & 1) != 0) continue;
      const std::uint32_t* word = work_.flags.peers[work_.rank] + rank;
      if (!reached(load_acquire_system(word), epoch_)) {
        announce();
        wait_for_word(work_.flags, word, epoch_, static_cast<std::uint32_t>(rank), kWaitReady);
      }
      fence_bulk_engine();
      ready_ |= 1u << rank;
    }
    if (work_.flags.pace_ns != 0) keep_pace();
    __syncwarp();
    if (lane_ != 0) return;
    cutlass::arch::ClusterTransactionBarrier::arrive_and_expect_tx(&shared_.loaded, copies_ * piece_);
#pragma unroll 1
    for (std::uint32_t copy = 0; copy < copies_; ++copy)
      cute::SM90_BULK_COPY_G2S::copy(work_.heads[home_ + copy * kPullKinds] + from_, &shared_.loaded,
                                     shared_.slot + copy * piece_, static_cast<std::int32_t>(piece_));
  }

  __device__ void keep_pace() {
    announce();
    std::uint64_t now = nanoseconds();
    while (now < due_) now = nanoseconds();
    due_ = now + std::uint64_t{work_.flags.pace_ns} * (copies_ * piece_ / kPullQuantum);
  }

  __device__ void store() {
    if (lane_ == 0) {
      cute::SM90_BULK_COPY_S2G::copy(shared_.slot, to_, static_cast<std::int32_t>(piece_));
      cute::tma_store_arrive();
    }
    if (left_ == piece_) {
      stored_flag_ = flag_;
      stored_quanta_ = quanta_;
    }
  }

  /// Counts the unit whose last piece was stored. The full wait, not the .read one: only what has landed is counted.
  __device__ void announce() {
    if (stored_quanta_ != 0 && lane_ == 0) {
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      fence_bulk_engine();
      asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(stored_flag_), "r"(stored_quanta_) : "memory");
    }
    stored_quanta_ = 0;
  }

  /// Adds the contributions of all ranks in rank order, in FP32, and rounds once.
  __device__ void add_copies() {
    for (std::uint32_t i = lane_ * 16; i < piece_; i += 32 * 16) {
      float2 sum[4];
#pragma unroll 1
      for (std::uint32_t copy = 0; copy < copies_; ++copy) {
        const uint4 bits = *reinterpret_cast<const uint4*>(shared_.slot + copy * piece_ + i);
        const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          const float2 value = {__uint_as_float(words[w] << 16), __uint_as_float(words[w] & 0xffff0000u)};
          sum[w] = copy == 0 ? value : make_float2(sum[w].x + value.x, sum[w].y + value.y);
        }
      }
      __nv_bfloat162 rounded[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) rounded[w] = __float22bfloat162_rn(sum[w]);
      *reinterpret_cast<uint4*>(shared_.slot + i) = *reinterpret_cast<const uint4*>(rounded);
    }
    cutlass::arch::fence_view_async_shared();
    __syncwarp();
  }

  const PullWork& work_;
  PullShared& shared_;
  const std::uint32_t epoch_, lane_;
  std::uint32_t stride_ = 0, index_ = 0, pass_ = 0, phase_ = 0;
  std::uint32_t ready_ = 0;  // bit p: rank p's heads may be read
  std::uint64_t due_ = 0;
  // The current unit.
  std::int64_t from_ = 0;  // bytes into heads[home_], and of further copies
  char* to_ = nullptr;
  std::uint32_t* flag_ = nullptr;
  int home_ = 0;
  std::uint32_t left_ = 0, piece_ = 0, quanta_ = 0, copies_ = 1;
  // The last stored unit, not yet announced.
  std::uint32_t* stored_flag_ = nullptr;
  std::uint32_t stored_quanta_ = 0;
};

/// The mover warp from beginning to end: says that this rank's heads are ready, moves, and, as the last mover of the
/// grid, says that this rank has read its peers' heads and waits until they have read its own.
__device__ inline void move(const PullWork& work, PullShared& shared) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t mover = blockIdx.x + gridDim.x * blockIdx.y, movers = gridDim.x * gridDim.y;
  const std::uint32_t epoch = load_relaxed_device(work.flags.epoch()) + 1;
  const bool to_peer = lane < static_cast<std::uint32_t>(work.ranks);
  if (mover == 0) {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    if (to_peer) store_relaxed_system(work.flags.peers[lane] + work.rank, epoch);
  }
  if (lane == 0) {
    cutlass::arch::ClusterBarrier::init(&shared.loaded, 1);
    cutlass::arch::fence_barrier_init();
  }
  __syncwarp();
  meet_helpers();
  Mover(work, shared, epoch).run(mover, movers);

  std::uint32_t before = 0;
  if (lane == 0)
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(work.flags.arrived()) : "memory");
  before = __shfl_sync(0xffffffffu, before, 0);
  if (before + 1 != movers) return;
  __syncwarp();
  if (lane == 0) {  // every poller has read the epoch: its mover met it before it moved anything
    *work.flags.arrived() = 0;
    *work.flags.epoch() = epoch;
  }
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  if (!to_peer) return;
  store_relaxed_system(work.flags.peers[lane] + work.ranks + work.rank, epoch);
  wait_for_word(work.flags, work.flags.peers[work.rank] + work.ranks + lane, epoch, lane, kWaitRead);
}

}  // namespace megaup::ops::device
