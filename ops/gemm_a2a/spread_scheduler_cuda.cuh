#pragma once

#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>

#include <megaup/ops/gemm_a2a/spread_order.hpp>

namespace megaup::ops::device {

/// The library's scheduler, with the clusters of tiles in a SpreadOrder where there is one: loads and stores see the
/// places of the matrix, and all else stays. The library's own order must then be along N with swizzle 1, which is the
/// order that the i-th cluster is counted in.
template <class ClusterShape>
class SpreadScheduler : public cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90 {
  using Base = cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90;
  static constexpr int kClusterM = cute::size<0>(ClusterShape{}), kClusterN = cute::size<1>(ClusterShape{});

 public:
  struct Params : Base::Params {
    SpreadOrder order;  // none: the library's
  };

  template <class... Inputs>
  static Params to_underlying_arguments(const Inputs&... inputs) {
    Params params{};
    static_cast<Base::Params&>(params) = Base::to_underlying_arguments(inputs...);
    return params;
  }

  CUTLASS_DEVICE explicit SpreadScheduler(const Params& params) : Base(params), order_(&params.order) {}

  CUTLASS_DEVICE WorkTileInfo get_current_work() const {
    WorkTileInfo work = Base::get_current_work();
    if (!work.is_valid() || order_->columns == 0) return work;
    const SpreadOrder::Place to = order_->at(work.M_idx / kClusterM * order_->columns + work.N_idx / kClusterN);
    work.M_idx = to.row * kClusterM + work.M_idx % kClusterM;
    work.N_idx = to.column * kClusterN + work.N_idx % kClusterN;
    return work;
  }
  // The library's own forms of these would call its own get_current_work().
  template <class Cluster>
  CUTLASS_DEVICE WorkTileInfo initial_work_tile_info(Cluster) {
    return get_current_work();
  }
  template <class... Pipeline>
  CUTLASS_DEVICE auto fetch_next_work(const WorkTileInfo&, const Pipeline&...) {
    advance_to_next_work();
    return cute::make_tuple(get_current_work(), true);
  }

 private:
  const SpreadOrder* order_;
};

/// Its name as a template argument of the library's kernels.
struct Spread {};

}  // namespace megaup::ops::device

namespace cutlass::gemm::kernel::detail {

template <class ArchTag, class TileShape, class ClusterShape, std::uint32_t stages>
struct TileSchedulerSelector<megaup::ops::device::Spread, ArchTag, TileShape, ClusterShape, stages> {
  using Scheduler = megaup::ops::device::SpreadScheduler<ClusterShape>;
};

}  // namespace cutlass::gemm::kernel::detail
