#pragma once

#include <cutlass/fast_math.h>
#include <cute/atom/copy_traits_sm90_tma.hpp>
#include <cute/tensor.hpp>

#include <megaup/ops/gemm_a2a/push_map.hpp>

/// The store of a fused GEMM -> A2A as a CuTe copy operation, so that the library's epilogue does everything else:
/// where SM90_TMA_STORE writes a box at (column, row) of one matrix, HeadStore looks up the box's head and writes it to
/// its tensor on its rank.
namespace megaup::ops {

struct HeadStore {};

/// PushMap with the tensor maps of its destinations; part of the kernel's parameters.
struct HeadRoutes {
  cute::TmaDescriptor homes[PushMap::kMaxHomes];  // rank*3 + kind
  PushMap map;
  cutlass::FastDivmod features, run_rows;

  /// Stores one box from shared memory. Called by one converged warp; one of its threads issues.
  CUTE_HOST_DEVICE void store(const void* box, std::int32_t column, std::int32_t row) const {
    // Tiles beyond the matrix exist: the scheduler rounds the grid up. A shifted coordinate would not be clipped by its
    // descriptor.
    if (column >= map.columns || row >= map.rows) return;
    std::int32_t head, feature, run, unused;
    features(head, feature, column);
    run_rows(run, unused, row);
    const PushMap::Head to = map.heads[head];
    const std::int32_t to_column = to.local * map.features + feature;
    const std::int32_t to_row = row + map.row_shift[run];
    if (!cute::elect_one_sync()) return;
    for (int copy = 0; copy < to.copies; ++copy)
      cute::SM90_TMA_STORE_3D::copy(&homes[to.home + copy * kPushKinds], box, to_column, to_row, 0);
  }
};

}  // namespace megaup::ops

namespace cute {

template <class NumBits, class AuxParams_>
struct Copy_Traits<megaup::ops::HeadStore, NumBits, AuxParams_> {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, NumBits>>;  // one thread hands over the whole box
  using DstLayout = Layout<Shape<_1, NumBits>>;
  using RefLayout = SrcLayout;

  using AuxParams = AuxParams_;
  TmaDescriptor tma_desc_;  // of the wide matrix: never stored through, but it makes the coordinates
  AuxParams aux_params_;
  megaup::ops::HeadRoutes routes;

  CUTE_HOST_DEVICE constexpr const TmaDescriptor* get_tma_descriptor() const { return &tma_desc_; }

  template <class Shape>
  CUTE_HOST_DEVICE constexpr auto get_tma_tensor(const Shape& shape) const {  // (M, N, L)
    return make_coord_tensor(make_layout(shape, aux_params_.g_stride_));
  }

  template <class Box, class BoxLayout, class Place, class PlaceLayout>
  CUTE_HOST_DEVICE friend constexpr void copy_unpack(const Copy_Traits& traits, const Tensor<Box, BoxLayout>& box,
                                                     Tensor<Place, PlaceLayout>& place) {
    static_assert(is_smem<Box>::value, "HeadStore stores from shared memory");
    const auto coordinate = place.data().coord_;  // (column, row, 0): a row-major matrix has its columns first
    traits.routes.store(raw_pointer_cast(box.data()), get<0>(coordinate), get<1>(coordinate));
  }
};

}  // namespace cute
