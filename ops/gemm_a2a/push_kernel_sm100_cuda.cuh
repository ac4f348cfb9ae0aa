#pragma once

#include <cutlass/epilogue/dispatch_policy.hpp>
#include <cutlass/gemm/dispatch_policy.hpp>

#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

/// What is different in the kernels for Blackwell GPUs. Compiled, and never run on a device.
///
/// The tensor cores of two neighbouring SMs multiply one tile of 256x256 together; each SM keeps 128 rows of the sums in its
/// tensor memory and stores them, so for planner, scheduler and store its tile is 128x256. Two sets of sums fit into tensor
/// memory: the next tile is multiplied while this one is stored.
///
/// The static scheduler instead of the one that asks the hardware for the next tile (the library's own choice on
/// Blackwell): the end barrier counts the warps that store, which is only known if all blocks of the grid run, and
/// Raster::spread is an order of tiles, which the hardware does not promise.
namespace megaup::ops::device {

/// What kernels for Blackwell GPUs are made of. box_columns: of what leaves shared memory at a time.
template <int box_columns>
struct Sm100Parts {
  static constexpr Architecture kArchitecture = Architecture::sm_100a;
  using PlainScheduler = cutlass::gemm::StaticPersistentScheduler;
  using Tile = cute::Shape<cute::_256, cute::_256, cute::_64>;  // of two blocks
  using BlockTile = cute::Shape<cute::_128, cute::_256, cute::_64>;
  using Cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;  // these two
  using Box = cute::Shape<cute::_128, cute::Int<box_columns>>;

  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, Tile, Cluster, Box, float, float, void,
      cutlass::layout::RowMajor, 8, Element, cutlass::layout::RowMajor, 8,
      cutlass::epilogue::TmaWarpSpecialized2Sm>::CollectiveOp;
  /// beside: bytes of shared memory that are used for other things.
  template <bool weight_transposed, int beside>
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, Element, cutlass::layout::RowMajor, 8, Element,
      std::conditional_t<weight_transposed, cutlass::layout::ColumnMajor, cutlass::layout::RowMajor>, 8, float, Tile,
      Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage)) +
                                                        beside>,
      cutlass::gemm::KernelTmaWarpSpecialized2SmSm100>::CollectiveOp;
};

template <bool weight_transposed>
struct PushConfigSm100 : Sm100Parts<kPushBoxColumns> {
  static constexpr Store kStore = Store::bulk;
  static constexpr bool kWeightTransposed = weight_transposed;
  using PlainEpilogue = Sm100Parts<kPushBoxColumns>::Epilogue;
  using Mainloop = typename Sm100Parts<kPushBoxColumns>::template Mainloop<weight_transposed, 0>;
};

/// The list of this epilogue's operations has one more, which reads tensor memory.
template <int stages_c, int stages_d, int fragment, bool reuse_c, bool delay, class Tile, class Box, class C,
          class StrideC, class D, class StrideD, class Fusion, class LoadSums, class LoadC, class LayoutC, class ReadC,
          class StoreD, class... Rest, class Store>
struct WithStore<cutlass::epilogue::collective::CollectiveEpilogue<
                     cutlass::epilogue::Sm100TmaWarpSpecialized<stages_c, stages_d, fragment, reuse_c, delay>, Tile,
                     Box, C, StrideC, D, StrideD, Fusion, LoadSums, LoadC, LayoutC, ReadC, StoreD, Rest...>,
                 Store> {
  using type = cutlass::epilogue::collective::CollectiveEpilogue<
      cutlass::epilogue::Sm100TmaWarpSpecialized<stages_c, stages_d, fragment, reuse_c, delay>, Tile, Box, C, StrideC,
      D, StrideD, Fusion, LoadSums, LoadC, LayoutC, ReadC, Store, Rest...>;
};

}  // namespace megaup::ops::device
