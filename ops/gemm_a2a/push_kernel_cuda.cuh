#pragma once

#include <string>
#include <type_traits>

#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include <megaup/core/error.hpp>
#include <megaup/ops/gemm_a2a/head_store_cuda.cuh>
#include <megaup/ops/gemm_a2a/push_gemm_cuda.cuh>
#include <megaup/ops/gemm_a2a/spread_scheduler_cuda.cuh>

/// The kernels themselves: the library's mainloop, schedule and epilogue, with HeadStore in the place of its store. Those
/// for Hopper GPUs; push_kernel_sm100_cuda.cuh says what is different on Blackwell.
namespace megaup::ops::device {

using Element = cutlass::bfloat16_t;

/// What a kernel is; a template argument of everything below, so that no two kernels share a name.
template <Schedule schedule_, int tile_m_, int tile_n_, int cluster_m_, int cluster_n_, bool weight_transposed_,
          Store store_ = Store::bulk>
struct PushConfig {
  static constexpr Architecture kArchitecture = Architecture::sm_90a;
  using PlainScheduler = void;  // the library's own choice
  static constexpr Store kStore = store_;
  static constexpr bool kPingPong = schedule_ == Schedule::ping_pong;
  static constexpr bool kWeightTransposed = weight_transposed_;
  using Tile = cute::Shape<cute::Int<tile_m_>, cute::Int<tile_n_>, cute::_64>;  // 64 BF16: one 128-byte swizzle row
  using BlockTile = Tile;
  using Cluster = cute::Shape<cute::Int<cluster_m_>, cute::Int<cluster_n_>, cute::_1>;  // blocks that share their loads
  // Boxes of 64 columns: 128-byte rows, the longest that a box of one head can have. In ping-pong a warpgroup computes
  // 64 rows at a time.
  using Box = cute::Shape<cute::Int<kPingPong ? 64 : 128>, cute::Int<kPushBoxColumns>>;
  using MainloopSchedule = std::conditional_t<kPingPong, cutlass::gemm::KernelTmaWarpSpecializedPingpong,
                                              cutlass::gemm::KernelTmaWarpSpecializedCooperative>;
  using EpilogueSchedule = std::conditional_t<kPingPong, cutlass::epilogue::TmaWarpSpecialized,
                                              cutlass::epilogue::TmaWarpSpecializedCooperative>;
  using LayoutB = std::conditional_t<weight_transposed_, cutlass::layout::ColumnMajor, cutlass::layout::RowMajor>;

  // C is void: nothing is read. 8 elements are the 16 bytes that bulk tensor copies are aligned to.
  using PlainEpilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, Box, float, float, void,
      cutlass::layout::RowMajor, 8, Element, cutlass::layout::RowMajor, 8, EpilogueSchedule>::CollectiveOp;
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, cutlass::layout::RowMajor, 8, Element, LayoutB, 8,
      float, Tile, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
          sizeof(typename PlainEpilogue::SharedStorage))>,
      MainloopSchedule>::CollectiveOp;
};

/// The epilogue with another store operation; everything else stays.
template <class Epilogue, class Store>
struct WithStore;
template <class Policy, class Tile, class Box, class C, class StrideC, class D, class StrideD, class Fusion,
          class LoadC, class LayoutC, class ReadC, class StoreD, class... Rest, class Store>
struct WithStore<cutlass::epilogue::collective::CollectiveEpilogue<Policy, Tile, Box, C, StrideC, D, StrideD, Fusion,
                                                                   LoadC, LayoutC, ReadC, StoreD, Rest...>,
                 Store> {
  using type = cutlass::epilogue::collective::CollectiveEpilogue<Policy, Tile, Box, C, StrideC, D, StrideD, Fusion,
                                                                 LoadC, LayoutC, ReadC, Store, Rest...>;
};

template <class Config, class Epilogue, class Scheduler = void>
using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, typename Config::Mainloop,
                                                    Epilogue, Scheduler>;

/// Threads that store come after four warps with other work. On Hopper those load; on Blackwell they load, multiply and
/// schedule.
constexpr std::uint32_t kLoadThreads = 128;

/// Threads that store one tile together. The first warp of each such group issues the stores.
template <class Kernel>
constexpr std::uint32_t storing_threads() {
  if constexpr (Kernel::ArchTag::kMinComputeCapability >= 100)
    return Kernel::NumEpilogueThreads;  // one thread multiplies for all of them
  else
    return cute::size(typename Kernel::TiledMma{});
}

template <class Kernel>
struct NoTail {
  CUTLASS_DEVICE void operator()() const {}
};

/// The end barrier of the warps that issue stores.
template <class Kernel>
struct PushTail {
  EndBarrier barrier;

  CUTLASS_DEVICE void operator()() const {
    if (barrier.ranks == 0) return;
    constexpr std::uint32_t kGroup = storing_threads<Kernel>();
    constexpr std::uint32_t kStoringWarps = (Kernel::MaxThreadsPerBlock - kLoadThreads) / kGroup;
    if (threadIdx.x < kLoadThreads || threadIdx.x % kGroup >= 32) return;
    finish(barrier, kStoringWarps * gridDim.x * gridDim.y * gridDim.z);
  }
};

template <class Kernel, class Tail>
__global__ void __launch_bounds__(Kernel::MaxThreadsPerBlock, Kernel::MinBlocksPerMultiprocessor)
    gemm_entry(const __grid_constant__ typename Kernel::Params params, const __grid_constant__ Tail tail) {
  extern __shared__ __align__(1024) char memory[];
  Kernel()(params, memory);
  tail();
}

template <class Kernel, class Tail>
class Launch final : public PreparedKernel {
 public:
  Launch(const typename Kernel::Params& params, const Tail& tail)
      : params_(params), tail_(tail), grid_(Kernel::get_grid_shape(params)) {
    check(cudaFuncSetAttribute(gemm_entry<Kernel, Tail>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               Kernel::SharedStorageSize),
          "shared memory of a GEMM kernel");
  }

  void run(cudaStream_t stream) const override {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    using Cluster = typename Kernel::ClusterShape;
    cluster.val.clusterDim.x = cute::size<0>(Cluster{});
    cluster.val.clusterDim.y = cute::size<1>(Cluster{});
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch{};
    launch.gridDim = grid_;
    launch.blockDim = Kernel::get_block_shape();
    launch.dynamicSmemBytes = Kernel::SharedStorageSize;
    launch.stream = stream;
    launch.attrs = &cluster;
    launch.numAttrs = 1;
    check(cudaLaunchKernelEx(&launch, gemm_entry<Kernel, Tail>, params_, tail_), "launch of a GEMM kernel");
  }

 private:
  typename Kernel::Params params_;
  Tail tail_;
  dim3 grid_;
};

/// Strides of a matrix whose rows (or, column-major, columns) are `leading` elements apart; a batch of one.
template <class Stride>
Stride packed(std::int64_t leading) {
  Stride stride{};
  if constexpr (cute::is_static_v<cute::tuple_element_t<0, Stride>>)
    cute::get<1>(stride) = leading;
  else
    cute::get<0>(stride) = leading;
  return stride;
}

/// The kernel's parameters for C [M, W] at `c`.
template <class Config, class Kernel>
typename Kernel::Params kernel_params(const DeviceGemm& gemm, void* c) {
  using Scheduler = typename Kernel::TileSchedulerArguments;
  [[maybe_unused]] const int M = static_cast<int>(gemm.shape.m), W = static_cast<int>(gemm.shape.n),
                             K = static_cast<int>(gemm.shape.k);
  typename Kernel::Arguments arguments{};
  arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
  arguments.problem_shape = {M, W, K, 1};
  arguments.mainloop.ptr_A = static_cast<const Element*>(gemm.a);
  arguments.mainloop.dA = packed<typename Kernel::StrideA>(gemm.lda);
  arguments.mainloop.ptr_B = static_cast<const Element*>(gemm.b);
  arguments.mainloop.dB = packed<typename Kernel::StrideB>(gemm.ldb);
  arguments.epilogue.thread.alpha = 1.0f;
  arguments.epilogue.thread.beta = 0.0f;
  arguments.epilogue.ptr_D = static_cast<Element*>(c);
  arguments.epilogue.dD = packed<typename Kernel::StrideD>(W);
  arguments.hw_info.sm_count = gemm.sms;
  arguments.scheduler.max_swizzle_size = gemm.raster == Raster::spread ? 1 : gemm.swizzle;
  using Order = std::remove_reference_t<decltype(Scheduler{}.raster_order)>;
  arguments.scheduler.raster_order = gemm.raster == Raster::along_m ? Order::AlongM : Order::AlongN;
  if (!Kernel::can_implement(arguments))
    throw core::Error(core::ErrorKind::environment, "the GEMM library refuses this shape or alignment");
  return Kernel::to_underlying_arguments(arguments, nullptr);
}

template <class Config>
std::unique_ptr<PreparedKernel> prepare_plain(const DeviceGemm& gemm, void* c) {
  using K = Kernel<Config, typename Config::PlainEpilogue, typename Config::PlainScheduler>;
  return std::make_unique<Launch<K, NoTail<K>>>(kernel_params<Config, K>(gemm, c), NoTail<K>{});
}

template <class Config, class Kernel>
ClusterGrid cluster_grid(const typename Kernel::Params& params) {
  using Cluster = typename Config::Cluster;
  const dim3 blocks =
      Kernel::TileScheduler::get_tiled_cta_shape_mnl(params.problem_shape, typename Config::BlockTile{}, Cluster{});
  const dim3 resident = Kernel::get_grid_shape(params);
  return {.rows = static_cast<std::int32_t>(blocks.x) / cute::size<0>(Cluster{}),
          .columns = static_cast<std::int32_t>(blocks.y) / cute::size<1>(Cluster{}),
          .cluster_columns = cute::size<1>(typename Config::Tile{}) * cute::size<1>(Cluster{}),
          .resident = static_cast<std::int32_t>(resident.x * resident.y * resident.z) / cute::size(Cluster{})};
}

template <class Config>
std::unique_ptr<PreparedKernel> prepare_push(const DeviceGemm& gemm, const PushMap& map, const PushHomes& homes,
                                             const EndBarrier& barrier) {
  using K = Kernel<Config, typename WithStore<typename Config::PlainEpilogue, HeadStore<Config::kStore>>::type, Spread>;
  // Only the coordinates of the wide matrix are used, never its memory; its descriptor still needs an address.
  auto params = kernel_params<Config, K>(gemm, const_cast<void*>(gemm.a));
  if (gemm.raster == Raster::spread)
    params.scheduler.order = spread_order(map, cluster_grid<Config, K>(params), gemm.swizzle);
  HeadRoutes& routes = params.epilogue.tma_store_d.routes;
  routes.map = map;
  routes.features = cutlass::FastDivmod(map.features);
  routes.run_rows = cutlass::FastDivmod(map.run_rows);
  for (int home = 0; home < PushMap::kMaxHomes; ++home) {
    const auto width = static_cast<int>(homes.widths[home % kPushKinds]);
    if (homes.base[home] == nullptr || width == 0) continue;
    typename K::EpilogueArguments destination{};  // [B*S, width]; the library encodes the tensor map for us
    destination.ptr_D = static_cast<Element*>(homes.base[home]);
    const auto rows = static_cast<int>(homes.rows);
    destination.dD = packed<typename K::StrideD>(homes.pitches[home % kPushKinds]);
    const auto encoded =
        K::CollectiveEpilogue::to_underlying_arguments(cute::make_shape(rows, width, 1, 1), destination, nullptr);
    routes.homes[home] = *encoded.tma_store_d.get_tma_descriptor();
    routes.base[home] = static_cast<char*>(homes.base[home]);
    routes.row_bytes[home % kPushKinds] = homes.pitches[home % kPushKinds] * core::kElementBytes;
  }
  return std::make_unique<Launch<K, PushTail<K>>>(params, PushTail<K>{barrier});
}

template <class Config>
constexpr CompiledPush compiled(std::string_view name) {
  return {name, Config::kArchitecture, Config::kWeightTransposed, &prepare_push<Config>, &prepare_plain<Config>};
}

}  // namespace megaup::ops::device
