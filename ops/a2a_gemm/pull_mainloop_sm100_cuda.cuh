#pragma once

#include <megaup/ops/a2a_gemm/pull_cursor.hpp>
#include <megaup/ops/a2a_gemm/pull_mainloop_cuda.cuh>

/// PullMainloop for Blackwell GPUs. Compiled, and never run on a device.
///
/// The library's kernel calls load() twice a tile, with as many K tiles as fit into shared memory and with the rest, and
/// with the whole warp: where it is in K is kept in between, and lanes that issue nothing wait with the one that does. Of
/// each K tile the two blocks of a cluster load their own 128 rows of A, each when the flags of its rows say so, and half
/// of the weight's tile; both follow the same order of K, without which the tensor cores that they share would wait for
/// ever.
namespace megaup::ops::device {

template <class Base>
struct PullMainloopSm100 : Base {
  using typename Base::MainloopPipeline;
  using typename Base::MainloopPipelineState;
  using typename Base::SmemLayoutA;
  using Cluster = typename Base::DispatchPolicy::ClusterShape;
  static constexpr int kBlockRows = cute::size<0>(typename Base::CtaShape_MNK{});
  static_assert(kBlockRows == kPullTileRows, "a block waits for the flags of one tile of rows");
  static_assert(cute::is_same_v<typename Base::GmemTiledCopyA, cute::SM100_TMA_2SM_LOAD>,
                "no two blocks want the same rows of A");
  static_assert(Base::Params::TMA_A::NumValSrc == kBlockRows * kPullTileK, "one box holds what a block loads of A");
  static_assert(PullCursor::kStaged == PullRoutes::kStaged && PullCursor::kSums == PullRoutes::kSums);

  struct Params : Base::Params {
    PullRoutes routes;
  };
  struct TensorStorage : Base::TensorStorage {
    PullShared pull;
  };

  template <class ProblemShape, class... Hardware>
  static Params to_underlying_arguments(const ProblemShape& shape, const typename Base::Arguments& arguments,
                                        void* workspace, const Hardware&... hardware) {
    Params params{};
    static_cast<typename Base::Params&>(params) =
        Base::to_underlying_arguments(shape, arguments, workspace, hardware...);
    return params;
  }

  /// The tensor map of [slabs][rows, columns] without gaps, with the boxes of A.
  static cute::TmaDescriptor encode(const void* base, std::int64_t rows, std::int64_t columns, std::int64_t slabs) {
    typename Base::StrideA stride{};
    cute::get<0>(stride) = columns;
    cute::get<2>(stride) = rows * columns;
    const auto tensor = cute::make_tensor(
        static_cast<const typename Base::TmaInternalElementA*>(base),
        cute::make_layout(cute::make_shape(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(slabs)),
                          stride));
    const auto atom = cute::make_tma_atom_A_sm100<typename Base::TmaInternalElementA>(
        typename Base::GmemTiledCopyA{}, tensor, SmemLayoutA{}(cute::_, cute::_, cute::_, cute::Int<0>{}),
        typename Base::TileShape{}, typename Base::TiledMma{},
        cute::tiled_divide(cute::make_layout(Cluster{}), cute::make_tile(typename Base::TiledMma::AtomThrID{})));
    return *atom.get_tma_descriptor();
  }

  CUTLASS_DEVICE PullMainloopSm100(const Params& params, Cluster cluster, std::uint32_t block_in_cluster)
      : Base(params, cluster, block_in_cluster), routes_(params.routes) {}

  template <class ProblemShape>
  CUTLASS_DEVICE auto load_init(const ProblemShape& shape, TensorStorage& shared) {
    pull_ = &shared.pull;
    return Base::load_init(shape, shared);
  }

  template <class Inputs, class BlockCoord, class KTileIterator>
  CUTLASS_DEVICE auto load(MainloopPipeline pipeline, MainloopPipelineState write, const Inputs& inputs,
                           const BlockCoord& where, KTileIterator k_tiles, int count) {
    using namespace cute;
    const PullMap& map = routes_.map;
    if (count > 0 && cursor_.ended(map)) {
      if (steps_ == 0) meet_helpers();
      cursor_.begin(map);
    }
    const int row_tile = get<0>(where);
    const bool beyond = row_tile * static_cast<int>(kPullTileRows) >= map.rows;  // only rounds the grid up
    int run, unused;
    routes_.run_tiles(run, unused, row_tile);
    const int own_row = (row_tile + (beyond ? 0 : map.tile_shift[run])) * static_cast<int>(kPullTileRows);
    const int staged_row = row_tile * static_cast<int>(kPullTileRows);
    const auto from_b = inputs.tBgB_nkl(_, get<1>(where), _, get<3>(where));
    CUTLASS_PRAGMA_NO_UNROLL
    for (; count > 0; --count) {
      if (cursor_.opens_shard() && !cursor_.own() && !beyond)
        wait_for_step(steps_ + static_cast<std::uint32_t>(cursor_.shard()) + 1);
      pipeline.producer_acquire(write);
      auto* barrier = pipeline.producer_get_barrier(write);
      const int stage = write.index();
      ++write;
      if (elect_one_sync()) {
        SM100_TMA_2SM_LOAD_3D::copy(&routes_.sources[cursor_.tensor()], barrier,
                                    static_cast<std::uint64_t>(TMA::CacheHintSm100::EVICT_NORMAL),
                                    raw_pointer_cast(inputs.tAsA(_, stage).data()),
                                    cursor_.column() * static_cast<int>(kPullTileK),
                                    cursor_.own() ? own_row : staged_row, cursor_.slab());
        copy(this->observed_tma_load_b_->with(*barrier, inputs.mcast_mask_b), from_b(_, cursor_.weight()),
             inputs.tBsB(_, stage));
      }
      cursor_.next(map);
      if (cursor_.ended(map)) steps_ += static_cast<std::uint32_t>(map.shards());
    }
    return cute::make_tuple(write, k_tiles);
  }

 private:
  /// By the lane that issues the loads, which is always the same one.
  CUTLASS_DEVICE void wait_for_step(std::uint32_t step) {
    if (cute::elect_one_sync()) {
      const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(&pull_->steps));
      // An atomic on both sides, because racecheck knows no acquire and release.
      while (!reached(seen_, step))
        asm volatile("atom.acquire.cta.shared.or.b32 %0, [%1], 0;" : "=r"(seen_) : "r"(address) : "memory");
    }
    __syncwarp();
  }

  const PullRoutes& routes_;
  const PullShared* pull_ = nullptr;
  PullCursor cursor_;
  std::uint32_t steps_ = 0;  // shards of all tiles before this one
  std::uint32_t seen_ = 0;   // steps that the poller had announced when last looked at
};

}  // namespace megaup::ops::device
