#pragma once

#include <cstdint>

#include <megaup/comm/cuda/await_cuda.cuh>
#include <megaup/ops/gemm_a2a/push_map.hpp>

/// The end of a push: no rank may read its heads before every rank has stored into them. One counter on the device,
/// then one flag a peer.
namespace megaup::ops {

/// EndBarrier::turn of heads that every launch may write.
constexpr std::uint32_t kAnyTurn = 2;

struct EndBarrier {
  std::uint32_t* arrived;  ///< storing warps of this launch that have finished; 0 between launches
  std::uint32_t* epoch;    ///< launches so far; counted on the device, so that a captured graph can be replayed
  std::uint32_t* lost;     ///< 0, or 1 + the rank whose flag did not come in time, or comm::device::kOutOfTurn
  std::uint32_t* flags[PushMap::kMaxRanks];  ///< flag block of each peer: [P] epochs, one a sender
  std::int32_t ranks, rank;                  ///< 0 ranks: no barrier, to measure what it costs
  std::uint64_t timeout_ns;
  std::uint32_t turn = kAnyTurn;  ///< epoch modulo 2 of the launches that may write this kernel's heads
};

namespace device {

/// Called by every converged warp that has issued stores, once, after its last one. `storing_warps`: how many of them
/// the grid has. Returns early on all but the last warp of the grid, which publishes and waits for the peers.
__device__ inline void finish(const EndBarrier& barrier, std::uint32_t storing_warps) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  // Only the last warp of the launch changes the epoch, and only after every warp has arrived: read it before, while
  // stores are under way.
  std::uint32_t epoch;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(epoch) : "l"(barrier.epoch) : "memory");
  ++epoch;
  // The full wait: the .read form only says that shared memory may be reused, not that the data has landed.
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  // Stores of the bulk engine come before flags of the plain kind.
  asm volatile("fence.proxy.async.global;" ::: "memory");
  // Plain stores of all lanes come before what lane 0 releases: order is passed on from lane to lane here, and from
  // warp to warp and to the peers below.
  __syncwarp();
  std::uint32_t before = 0;
  if (lane == 0)
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(barrier.arrived) : "memory");
  before = __shfl_sync(0xffffffffu, before, 0);
  if (before + 1 != storing_warps) return;
  __syncwarp();  // what lane 0 acquired is seen by the lanes that publish

  if (lane == 0) {
    *barrier.arrived = 0;
    *barrier.epoch = epoch;
  }
  // One fence at system scope for the whole grid: the acquire above has seen every other warp's stores. Fencing in
  // every block costs several microseconds more.
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  if (lane < barrier.ranks) {
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(barrier.flags[lane] + barrier.rank), "r"(epoch)
                 : "memory");
    comm::device::await_word(barrier.flags[barrier.rank] + lane, epoch, {barrier.lost, barrier.timeout_ns},
                             1u + static_cast<std::uint32_t>(lane));
  }
  __syncwarp();  // after a fault no lane would begin to wait, and ranks that are out of turn together still meet
  if (lane == 0 && barrier.turn != kAnyTurn && epoch % 2 != barrier.turn)
    comm::device::report(barrier.lost, comm::device::kOutOfTurn);
}

}  // namespace device
}  // namespace megaup::ops
