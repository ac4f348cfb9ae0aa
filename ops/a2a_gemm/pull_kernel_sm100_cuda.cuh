#pragma once

#include <megaup/ops/a2a_gemm/pull_kernel_cuda.cuh>
#include <megaup/ops/a2a_gemm/pull_mainloop_sm100_cuda.cuh>
#include <megaup/ops/gemm_a2a/push_kernel_sm100_cuda.cuh>

/// What is different in the kernels for Blackwell GPUs. Compiled, and never run on a device.
///
/// The warp that would ask the hardware for the next tile and the one that would read C have nothing to do with a static
/// scheduler and without a C, and come out of the library's kernel at once: they are poller and mover.
namespace megaup::ops::device {

/// The library's scheduler says the first block of a cluster; this one the tiles of this block.
template <class Scheduler>
class Sm100BlockTiles : public Scheduler {
 public:
  CUTLASS_DEVICE explicit Sm100BlockTiles(const typename Scheduler::Params& params)
      : Scheduler(nullptr, params, cute::block_id_in_cluster()) {}

  CUTLASS_DEVICE typename Scheduler::WorkTileInfo get_current_work() const {
    auto work = Scheduler::get_current_work();
    work.M_idx += static_cast<std::int32_t>(cute::block_id_in_cluster().x);
    return work;
  }
};

template <bool weight_transposed>
struct PullConfigSm100 : Sm100Parts<32> {  // narrow boxes: they leave shared memory for the mover
  static constexpr bool kWeightTransposed = weight_transposed;
  static constexpr int kRowTiles = 1;  // of one block
  static constexpr std::uint32_t kPollerWarp = 1, kMoverWarp = 3;
  template <class Scheduler>
  using BlockTiles = Sm100BlockTiles<Scheduler>;

  using PlainMainloop = typename Sm100Parts<32>::template Mainloop<weight_transposed, 0>;
  using Mainloop = PullMainloopSm100<
      typename Sm100Parts<32>::template Mainloop<weight_transposed, static_cast<int>(sizeof(PullShared))>>;
};

}  // namespace megaup::ops::device
