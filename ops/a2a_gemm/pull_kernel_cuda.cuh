#pragma once

#include <megaup/ops/a2a_gemm/pull_mainloop_cuda.cuh>
#include <megaup/ops/a2a_gemm/pull_mover_cuda.cuh>
#include <megaup/ops/gemm_a2a/push_kernel_cuda.cuh>

/// The kernels themselves: the library's schedule and epilogue around PullMainloop, and two helper warps. Those for Hopper
/// GPUs; pull_kernel_sm100_cuda.cuh says what is different on Blackwell.
namespace megaup::ops::device {

/// What a kernel is; a template argument of everything below, so that no two kernels share a name.
template <Schedule schedule_, int tile_m_, int tile_n_, int cluster_m_, int cluster_n_, bool weight_transposed_>
struct PullConfig {
  static constexpr Architecture kArchitecture = Architecture::sm_90a;
  using PlainScheduler = void;  // the library's own choice
  // Warps of the loading warpgroup that the library leaves idle: without a C to read and with its static scheduler. They
  // come out of the kernel at once.
  static constexpr std::uint32_t kPollerWarp = 1, kMoverWarp = 2;
  template <class Scheduler>
  using BlockTiles = Scheduler;  // says the tiles of this block
  static constexpr bool kPingPong = schedule_ == Schedule::ping_pong;
  static constexpr bool kWeightTransposed = weight_transposed_;
  static constexpr int kRowTiles = tile_m_ / static_cast<int>(kPullTileRows);
  using Tile = cute::Shape<cute::Int<tile_m_>, cute::Int<tile_n_>, cute::Int<kPullTileK>>;
  using Cluster = cute::Shape<cute::Int<cluster_m_>, cute::Int<cluster_n_>, cute::_1>;  // blocks that share their loads
  // Narrow boxes: they leave shared memory for the mover.
  using Box = cute::Shape<cute::Int<kPingPong ? 64 : 128>, cute::_32>;
  using MainloopSchedule = std::conditional_t<kPingPong, cutlass::gemm::KernelTmaWarpSpecializedPingpong,
                                              cutlass::gemm::KernelTmaWarpSpecializedCooperative>;
  using EpilogueSchedule = std::conditional_t<kPingPong, cutlass::epilogue::TmaWarpSpecialized,
                                              cutlass::epilogue::TmaWarpSpecializedCooperative>;
  using LayoutB = std::conditional_t<weight_transposed_, cutlass::layout::ColumnMajor, cutlass::layout::RowMajor>;

  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, Box, float, float, void,
      cutlass::layout::RowMajor, 8, Element, cutlass::layout::RowMajor, 8, EpilogueSchedule>::CollectiveOp;
  template <int beside>
  using Builder = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, cutlass::layout::RowMajor, 8, Element, LayoutB, 8,
      float, Tile, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage)) +
                                                        beside>,
      MainloopSchedule>::CollectiveOp;
  using PlainMainloop = Builder<0>;
  using Mainloop = PullMainloop<Builder<static_cast<int>(sizeof(PullShared))>>;
};

template <class Config, class Mainloop>
using PullUniversal =
    cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, typename Config::Epilogue,
                                         typename Config::PlainScheduler>;

template <class Config, class Kernel>
struct PullTail {
  typename Kernel::TileSchedulerParams schedule;
  PullWork work;

  CUTLASS_DEVICE void operator()() const {
    const std::uint32_t warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    if (warp != Config::kPollerWarp && warp != Config::kMoverWarp) return;
    extern __shared__ __align__(1024) char memory[];  // the kernel's own
    PullShared& shared = reinterpret_cast<typename Kernel::SharedStorage*>(memory)->tensors.mainloop.pull;
    if (warp == Config::kPollerWarp)
      poll<typename Config::template BlockTiles<typename Kernel::TileScheduler>, Config::kRowTiles>(work, schedule,
                                                                                                     shared);
    else
      move(work, shared);
  }
};

/// The kernel's parameters, with A [M, K] without gaps at `a`.
template <class Config, class Kernel>
typename Kernel::Params pull_params(const PullGemm& gemm, const void* a) {
  using Scheduler = typename Kernel::TileSchedulerArguments;
  typename Kernel::Arguments arguments{};
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {static_cast<int>(gemm.shape.m), static_cast<int>(gemm.shape.n),
                             static_cast<int>(gemm.shape.k), 1};
  arguments.mainloop.ptr_A = static_cast<const Element*>(a);
  arguments.mainloop.dA = packed<typename Kernel::StrideA>(gemm.shape.k);
  arguments.mainloop.ptr_B = static_cast<const Element*>(gemm.weight);
  arguments.mainloop.dB = packed<typename Kernel::StrideB>(gemm.weight_ld);
  arguments.epilogue.thread.alpha = 1.0f;
  arguments.epilogue.thread.beta = 0.0f;
  arguments.epilogue.ptr_D = static_cast<Element*>(gemm.c);
  arguments.epilogue.dD = packed<typename Kernel::StrideD>(gemm.c_ld);
  arguments.hw_info.sm_count = gemm.sms;
  arguments.scheduler.max_swizzle_size = gemm.swizzle;
  using Order = std::remove_reference_t<decltype(Scheduler{}.raster_order)>;
  arguments.scheduler.raster_order = Order::AlongN;
  if (!Kernel::can_implement(arguments))
    throw core::Error(core::ErrorKind::environment, "the GEMM library refuses this shape or alignment");
  return Kernel::to_underlying_arguments(arguments, nullptr);
}

template <class Config>
std::unique_ptr<PreparedKernel> prepare_pull_plain(const PullGemm& gemm, const void* a) {
  using K = PullUniversal<Config, typename Config::PlainMainloop>;
  return std::make_unique<Launch<K, NoTail<K>>>(pull_params<Config, K>(gemm, a), NoTail<K>{});
}

/// Clusters that the device can hold at once. The library's own estimate knows the layout of Hopper GPUs; a block that is
/// not resident moves nothing, and all others would wait for it.
template <class Kernel, class Tail>
int resident_clusters() {
  using Cluster = typename Kernel::ClusterShape;
  check(cudaFuncSetAttribute(gemm_entry<Kernel, Tail>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             Kernel::SharedStorageSize),
        "shared memory of a pull kernel");
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = cute::size<0>(Cluster{});
  cluster.val.clusterDim.y = cute::size<1>(Cluster{});
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(cute::size<0>(Cluster{}), cute::size<1>(Cluster{}));
  launch.blockDim = Kernel::get_block_shape();
  launch.dynamicSmemBytes = Kernel::SharedStorageSize;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, gemm_entry<Kernel, Tail>, &launch), "resident clusters");
  return clusters;
}

template <class Config>
std::unique_ptr<PreparedKernel> prepare_pull(const PullGemm& gemm, const PullMap& map, const PullMoves& moves,
                                             const PullHeads& heads, const PullFlags& flags) {
  using K = PullUniversal<Config, typename Config::Mainloop>;
  using Mainloop = typename Config::Mainloop;
  if (moves.block_rows < Config::kRowTiles * kPullTileRows)
    throw core::Error(core::ErrorKind::environment, "a tile of this pull kernel has more rows than one flag");
  const PullWork work = pull_work(map, moves, heads, flags);
  // A's own tensor map is never loaded through; it still needs an address.
  auto params = pull_params<Config, K>(gemm, heads.base[map.rank * kPullKinds]);
  PullRoutes& routes = params.mainloop.routes;
  routes.map = map;
  routes.run_tiles = cutlass::FastDivmod(map.run_tiles);
  for (int kind = 0; kind < kPullKinds; ++kind) {
    if (map.tiles[static_cast<std::size_t>(kind)] == 0) continue;
    routes.sources[kind] =
        Mainloop::encode(heads.base[map.rank * kPullKinds + kind], heads.rows, heads.widths[kind], 1);
    routes.sources[PullRoutes::kStaged + kind] =
        Mainloop::encode(work.staging[kind], map.rows, heads.widths[kind], map.ranks);
  }
  if (map.sums > 0)
    routes.sources[PullRoutes::kSums] =
        Mainloop::encode(work.staging[kPullKinds], map.rows, map.head_tiles * kPullTileK, map.sums);
  using Tail = PullTail<Config, K>;
  if constexpr (Config::kArchitecture != Architecture::sm_90a)
    params.hw_info.max_active_clusters = resident_clusters<K, Tail>();
  const dim3 grid = K::get_grid_shape(params);
  if (std::uint64_t{grid.x} * grid.y * grid.z > params.scheduler.blocks_per_problem_)
    throw core::Error(core::ErrorKind::environment, "a block of a pull kernel would have no tile");
  return std::make_unique<Launch<K, Tail>>(params, Tail{params.scheduler, work});
}

template <class Config>
constexpr CompiledPull compiled_pull(std::string_view name) {
  return {name, Config::kArchitecture, Config::kWeightTransposed, &prepare_pull<Config>, &prepare_pull_plain<Config>};
}

}  // namespace megaup::ops::device
