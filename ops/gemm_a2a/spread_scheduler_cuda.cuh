#pragma once

#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>

#include <megaup/ops/gemm_a2a/spread_order.hpp>

namespace megaup::ops::device {

/// A static scheduler of the library, with the clusters of tiles in a SpreadOrder where there is one: loads and stores see
/// the places of the matrix, and all else stays. The library's own order must then be along N with swizzle 1, which is the
/// order that the i-th cluster is counted in. Sm90's says the tile of a block, Sm100's that of a cluster's first block.
template <class Base, class ClusterShape>
class SpreadScheduler : public Base {
  static constexpr int kClusterM = cute::size<0>(ClusterShape{}), kClusterN = cute::size<1>(ClusterShape{});

 public:
  using typename Base::WorkTileInfo;
  struct Params : Base::Params {
    SpreadOrder order;  // none: the library's
  };

  template <class... Inputs>
  static Params to_underlying_arguments(const Inputs&... inputs) {
    Params params{};
    static_cast<typename Base::Params&>(params) = Base::to_underlying_arguments(inputs...);
    return params;
  }

  CUTLASS_DEVICE explicit SpreadScheduler(const Params& params) : Base(params), order_(&params.order) {}
  template <class Response>
  CUTLASS_DEVICE SpreadScheduler(Response* response, const Params& params, dim3 block_in_cluster)
      : Base(response, params, block_in_cluster), order_(&params.order) {}

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
    this->advance_to_next_work();
    return cute::make_tuple(get_current_work(), true);
  }

 private:
  const SpreadOrder* order_;
};

/// Its name as a template argument of the library's kernels.
struct Spread {};

}  // namespace megaup::ops::device

namespace cutlass::gemm::kernel::detail {

template <class TileShape, class ClusterShape, std::uint32_t stages>
struct TileSchedulerSelector<megaup::ops::device::Spread, cutlass::arch::Sm90, TileShape, ClusterShape, stages> {
  using Scheduler = megaup::ops::device::SpreadScheduler<PersistentTileSchedulerSm90, ClusterShape>;
};
template <class TileShape, class ClusterShape, std::uint32_t stages>
struct TileSchedulerSelector<megaup::ops::device::Spread, cutlass::arch::Sm100, TileShape, ClusterShape, stages> {
  using Scheduler = megaup::ops::device::SpreadScheduler<StaticPersistentTileScheduler100, ClusterShape>;
};

}  // namespace cutlass::gemm::kernel::detail
