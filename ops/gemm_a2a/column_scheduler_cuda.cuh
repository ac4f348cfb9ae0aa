#pragma once

#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>

#include <megaup/ops/gemm_a2a/push_map.hpp>

namespace megaup::ops::device {

/// A static scheduler of the library, with the columns of tiles in an order of ours: loads and stores see the columns of
/// the matrix, and all else stays. Sm90 counts tiles of blocks, Sm100 those of clusters by their first block: a cluster is
/// one tile wide, so that their columns are the same.
template <class Base>
class ColumnScheduler : public Base {
 public:
  using typename Base::WorkTileInfo;
  struct Params : Base::Params {
    PushColumns columns;
  };

  template <class... Inputs>
  static Params to_underlying_arguments(const Inputs&... inputs) {
    Params params{};
    static_cast<typename Base::Params&>(params) = Base::to_underlying_arguments(inputs...);
    return params;
  }

  CUTLASS_DEVICE explicit ColumnScheduler(const Params& params) : Base(params), columns_(&params.columns) {}
  template <class Response>
  CUTLASS_DEVICE ColumnScheduler(Response* response, const Params& params, dim3 block_in_cluster)
      : Base(response, params, block_in_cluster), columns_(&params.columns) {}

  CUTLASS_DEVICE WorkTileInfo get_current_work() const {
    WorkTileInfo work = Base::get_current_work();
    if (work.is_valid()) work.N_idx = columns_->at(work.N_idx);
    return work;
  }
  // The library's own forms of these would call its own get_current_work().
  template <class ClusterShape>
  CUTLASS_DEVICE WorkTileInfo initial_work_tile_info(ClusterShape) {
    return get_current_work();
  }
  template <class... Pipeline>
  CUTLASS_DEVICE auto fetch_next_work(const WorkTileInfo&, const Pipeline&...) {
    this->advance_to_next_work();
    return cute::make_tuple(get_current_work(), true);
  }

 private:
  const PushColumns* columns_;
};

/// Its name as a template argument of the library's kernels.
struct ByColumns {};

}  // namespace megaup::ops::device

namespace cutlass::gemm::kernel::detail {

template <class TileShape, class ClusterShape, std::uint32_t stages>
struct TileSchedulerSelector<megaup::ops::device::ByColumns, cutlass::arch::Sm90, TileShape, ClusterShape, stages> {
  using Scheduler = megaup::ops::device::ColumnScheduler<PersistentTileSchedulerSm90>;
};
template <class TileShape, class ClusterShape, std::uint32_t stages>
struct TileSchedulerSelector<megaup::ops::device::ByColumns, cutlass::arch::Sm100, TileShape, ClusterShape, stages> {
  static_assert(cute::size<1>(ClusterShape{}) == 1, "work.N_idx is the first column of a cluster");
  using Scheduler = megaup::ops::device::ColumnScheduler<StaticPersistentTileScheduler100>;
};

}  // namespace cutlass::gemm::kernel::detail
