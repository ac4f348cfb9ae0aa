#pragma once

#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>

#include <megaup/ops/a2a_gemm/pull_flags_cuda.cuh>

/// The library's mainloop with another producer: A comes shard by shard from the own heads, the staging buffer and the
/// sums, and K tiles of the weight in the same order.
namespace megaup::ops::device {

/// Tensor maps of everything that A is loaded from: own Q, K, V; staged Q, K, V; sums. Part of the kernel's parameters.
struct PullRoutes {
  static constexpr int kStaged = kPullKinds, kSums = 2 * kPullKinds;
  cute::TmaDescriptor sources[2 * kPullKinds + 1];
  PullMap map;
  cutlass::FastDivmod run_tiles;
};

template <class Base>
struct PullMainloop : Base {
  using typename Base::MainloopPipeline;
  using typename Base::PipelineState;
  using typename Base::SmemLayoutA;
  using typename Base::SmemLayoutB;
  static constexpr int kTileRows = cute::size<0>(typename Base::TileShape{});
  static constexpr int kClusterM = cute::size<0>(typename Base::DispatchPolicy::ClusterShape{});
  static constexpr int kClusterN = cute::size<1>(typename Base::DispatchPolicy::ClusterShape{});
  static_assert(kClusterM == 1 || kClusterN == 1, "either tiles of A or tiles of the weight are shared by a cluster");

  struct Params : Base::Params {
    PullRoutes routes;
  };
  struct TensorStorage : Base::TensorStorage {
    PullShared pull;
  };

  template <class ProblemShape>
  static Params to_underlying_arguments(const ProblemShape& shape, const typename Base::Arguments& arguments,
                                        void* workspace) {
    Params params{};
    static_cast<typename Base::Params&>(params) = Base::to_underlying_arguments(shape, arguments, workspace);
    return params;
  }

  /// The tensor map of [slabs][rows, columns] without gaps, with the boxes of A.
  static cute::TmaDescriptor encode(const void* base, std::int64_t rows, std::int64_t columns, std::int64_t slabs) {
    typename Base::StrideA stride{};
    cute::get<0>(stride) = columns;
    cute::get<2>(stride) = rows * columns;
    const auto tensor = cute::make_tensor(
        static_cast<const typename Base::InternalElementA*>(base),
        cute::make_layout(cute::make_shape(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(slabs)),
                          stride));
    const auto copy = cute::make_tma_copy_A_sm90(
        typename Base::GmemTiledCopyA{}, tensor, SmemLayoutA{}(cute::_, cute::_, cute::Int<0>{}),
        typename Base::TileShape{}, typename Base::DispatchPolicy::ClusterShape{});
    return *copy.get_tma_descriptor();
  }

  template <class TensorA, class TensorB, class KTileIterator, class BlockCoord>
  CUTLASS_DEVICE void load(const Params& params, MainloopPipeline pipeline, PipelineState write,
                           const cute::tuple<TensorA, TensorB>& inputs, const BlockCoord& where, KTileIterator, int,
                           int, std::uint32_t block_in_cluster, TensorStorage& shared) {
    using namespace cute;
    if (steps_ == 0) meet_helpers();
    const PullRoutes& routes = params.routes;
    const int row_tile = get<0>(where) * (kTileRows / static_cast<int>(kPullTileRows));
    if (elect_one_sync()) {
      const auto sB = make_tensor(make_smem_ptr(shared.smem_B.data()), SmemLayoutB{});
      const int part_a = static_cast<int>(block_in_cluster) / kClusterM;  // of a tile that blocks share
      const auto block_b = params.tma_load_b.get_slice(block_in_cluster % kClusterM);
      const Tensor from_b = block_b.partition_S(get<1>(inputs)(_, _, get<1>(where), _, get<3>(where)));
      const Tensor to_b = block_b.partition_D(sB);
      std::uint16_t mask_b = 0;
      if constexpr (is_same_v<typename Base::GmemTiledCopyB, SM90_TMA_LOAD_MULTICAST>)
        mask_b = static_cast<std::uint16_t>((1u << kClusterM) - 1u);

      const bool beyond = row_tile * static_cast<int>(kPullTileRows) >= routes.map.rows;  // only rounds the grid up
      int run, unused;
      routes.run_tiles(run, unused, row_tile);
      const int own_row = (row_tile + (beyond ? 0 : routes.map.tile_shift[run])) * static_cast<int>(kPullTileRows);
      int peer = routes.map.first;
      const int shards = routes.map.shards();
      for (int shard = 0; shard < shards; ++shard) {
        const bool sums = shard == routes.map.ranks;
        const bool own = !sums && peer == routes.map.rank;
        if (!own && !beyond) wait_for_step(shared.pull, steps_ + static_cast<std::uint32_t>(shard) + 1);
        const int first = sums ? routes.map.shard_segments : 0;
        const int end = sums ? first + routes.map.sum_segments : routes.map.shard_segments;
        for (int s = first; s < end; ++s) {
          const PullMap::Segment segment = routes.map.segments[s];
          const int source = sums ? PullRoutes::kSums : segment.source + (own ? 0 : PullRoutes::kStaged);
          const TmaDescriptor* descriptor = &routes.sources[source];
          const int row = (own ? own_row : row_tile * static_cast<int>(kPullTileRows)) + part_a * kPartRows;
          const int slab = sums ? segment.source : own ? 0 : peer;
          int column = segment.from * static_cast<int>(kPullTileK);
          int k = segment.weight + (sums ? 0 : routes.map.weight_shift[segment.source][peer]);
          CUTLASS_PRAGMA_NO_UNROLL
          for (int left = segment.count; left > 0; --left) {
            pipeline.producer_acquire(write);
            auto* barrier = pipeline.producer_get_barrier(write);
            const int stage = write.index();
            load_a(descriptor, barrier, shared.smem_A.data() + (stage * kTileRows + part_a * kPartRows) * kPullTileK,
                   column, row, slab);
            copy(params.tma_load_b.with(*barrier, mask_b), from_b(_, _, _, k), to_b(_, _, _, stage));
            column += static_cast<int>(kPullTileK);
            ++k;
            ++write;
          }
        }
        peer = peer + 1 == routes.map.ranks ? 0 : peer + 1;
      }
    }
    steps_ += static_cast<std::uint32_t>(routes.map.shards());
  }

 private:
  static constexpr int kPartRows = kTileRows / kClusterN;  // rows of A that one block loads for its cluster

  template <class Barrier, class To>
  CUTLASS_DEVICE static void load_a(const cute::TmaDescriptor* from, Barrier* barrier, To* to, int column, int row,
                                    int slab) {
    constexpr auto kHint = static_cast<std::uint64_t>(cute::TMA::CacheHintSm90::EVICT_NORMAL);
    if constexpr (kClusterN == 1)
      cute::SM90_TMA_LOAD_3D::copy(from, barrier, kHint, to, column, row, slab);
    else
      cute::SM90_TMA_LOAD_MULTICAST_3D::copy(from, barrier, static_cast<std::uint16_t>((1u << kClusterN) - 1u), kHint,
                                             to, column, row, slab);
  }

  CUTLASS_DEVICE void wait_for_step(const PullShared& pull, std::uint32_t step) {
    if (reached(seen_, step)) return;
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(&pull.steps));
    // An atomic on both sides, because racecheck knows no acquire and release.
    do asm volatile("atom.acquire.cta.shared.or.b32 %0, [%1], 0;" : "=r"(seen_) : "r"(address) : "memory");
    while (!reached(seen_, step));
  }

  std::uint32_t steps_ = 0;  // shards of all tiles before this one
  std::uint32_t seen_ = 0;   // steps that the poller had announced when last looked at
};

}  // namespace megaup::ops::device
