#pragma once

#include <cstdint>

#include <megaup/comm/cuda/await_cuda.cuh>
#include <megaup/ops/a2a_gemm/pull_work_cuda.cuh>

/// Flags of the pull. All count epochs, or quanta over all epochs, and wrap around: only differences count.
namespace megaup::ops::device {

using comm::device::await_word, comm::device::load_acquire_system, comm::device::nanoseconds, comm::device::reached,
    comm::device::report;

/// Second byte of PullFlags::lost, as pull_fault() reads it.
enum PullWait : std::uint32_t { kWaitReady = 0, kWaitLanded = 1, kWaitRead = 2, kWaitSums = 3 };

__device__ inline std::uint32_t load_acquire_device(const std::uint32_t* word) {
  std::uint32_t seen;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  return seen;
}
__device__ inline void store_relaxed_system(std::uint32_t* word, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}
__device__ inline std::uint32_t load_relaxed_device(const std::uint32_t* word) {
  std::uint32_t seen;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  return seen;
}
/// Orders plain accesses to global memory with those of the bulk engine.
__device__ inline void fence_bulk_engine() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

/// The poller then waits no longer either: what it waits for may never land.
__device__ inline bool gave_up(const PullFlags& flags) { return load_relaxed_device(flags.lost()) != 0; }

/// Waits until a peer's word has reached `epoch`, for at most the timeout; then says which one did not.
__device__ inline void wait_for_word(const PullFlags& flags, const std::uint32_t* word, std::uint32_t epoch,
                                     std::uint32_t rank, PullWait what) {
  await_word(word, epoch, {flags.lost(), flags.timeout_ns}, (what << 8) + rank + 1);
}

/// The two helper warps and the loading warp meet once, before anything is counted.
__device__ inline void meet_helpers() { asm volatile("bar.sync 15, 96;" ::: "memory"); }

/// The poller: announces to the loading thread, shard by shard, what of its coming tiles has landed. The flag, the
/// fence and the wait are here and not in the loading thread because there they hold up its next load (3 to 5 % of the
/// GEMM). Lane k watches shard k of a tile.
template <class Scheduler, int kRowTiles>
__device__ inline void poll(const PullWork& work, const typename Scheduler::Params& schedule, PullShared& shared) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::uint32_t epoch = load_relaxed_device(work.flags.epoch()) + 1;
  if (lane == 0) shared.steps = 0;
  __syncwarp();
  meet_helpers();
  const auto steps_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(&shared.steps));
  const auto publish = [&](std::uint32_t steps) {
    std::uint32_t before;
    if (lane == 0)
      asm volatile("atom.release.cta.shared.exch.b32 %0, [%1], %2;"
                   : "=r"(before)
                   : "r"(steps_address), "r"(steps)
                   : "memory");
  };

  const int peer = work.first + lane < work.ranks ? work.first + lane : work.first + lane - work.ranks;
  const bool watching = lane < work.shards && !(lane < work.ranks && peer == work.rank);
  const int at_once = work.first == work.rank ? 1 : 0;  // shards that the loading thread does not ask for
  const int column = lane < work.ranks ? peer : work.ranks;
  const std::uint32_t target = epoch * (lane < work.ranks ? work.shard_quanta : work.sums_quanta);
  const std::uint32_t* landed = work.flags.landed() + column;
  std::uint32_t steps = 0;
  int last_block = -1;
  Scheduler scheduler(schedule);
  for (auto tile = scheduler.get_current_work(); tile.is_valid();
       scheduler.advance_to_next_work(), tile = scheduler.get_current_work(), steps += work.shards) {
    const int row_tile = static_cast<int>(tile.M_idx) * kRowTiles;
    if (row_tile >= work.row_tiles) continue;  // only rounds the grid up
    const int block = row_tile >> work.block_shift;
    int here = block == last_block ? work.shards : at_once;
    last_block = block;
    if (here > at_once) publish(steps + here);
    std::uint64_t deadline = 0;
    while (here < work.shards) {
      const bool missing =
          watching && !reached(load_acquire_device(landed + std::int64_t{block} * (work.ranks + 1)), target);
      const unsigned lanes = __ballot_sync(0xffffffffu, missing);
      const int upto = lanes == 0 ? work.shards : __ffs(static_cast<int>(lanes)) - 1;
      if (upto > here) {
        fence_bulk_engine();  // what was acquired comes before the loads of the bulk engine
        __syncwarp();
        here = upto;
        publish(steps + here);
        continue;
      }
      const std::uint64_t now = nanoseconds();
      if (deadline == 0) deadline = now + 2 * work.flags.timeout_ns;  // a mover that waits in vain says more
      if (now > deadline && lane == upto)
        report(work.flags.lost(), lane < work.ranks ? (kWaitLanded << 8) + peer + 1 : (kWaitSums << 8));
      __syncwarp();
      if (__any_sync(0xffffffffu, gave_up(work.flags))) {
        here = work.shards;
        publish(steps + here);
      }
    }
  }
}

}  // namespace megaup::ops::device
