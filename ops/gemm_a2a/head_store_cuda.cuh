#pragma once

#include <cutlass/fast_math.h>
#include <cute/arch/util.hpp>
#include <cute/atom/copy_traits_sm90_tma.hpp>
#include <cute/tensor.hpp>

#include <megaup/ops/gemm_a2a/push_map.hpp>
#include <megaup/ops/gemm_a2a/push_plan.hpp>

/// The store of a fused GEMM -> A2A as a CuTe copy operation, so that the library's epilogue does everything else:
/// where SM90_TMA_STORE writes a box at (column, row) of one matrix, HeadStore looks up the box's head and writes it to
/// its tensor on its rank.
namespace megaup::ops {

template <Store store>
struct HeadStore {};

/// PushMap with its destinations, rank*3 + kind, as tensor maps and as addresses; part of the kernel's parameters.
struct HeadRoutes {
  cute::TmaDescriptor homes[PushMap::kMaxHomes];
  char* base[PushMap::kMaxHomes];
  std::int64_t row_bytes[kPushKinds];  // from one row to the next
  PushMap map;
  cutlass::FastDivmod features, run_rows;

  /// Stores one box of so many rows of 128 bytes from shared memory. Called by one converged warp.
  template <Store store, int rows>
  CUTE_DEVICE void put(const void* box, std::int32_t column, std::int32_t row) const {
    // Tiles beyond the matrix exist: the scheduler rounds the grid up. A shifted coordinate would not be clipped by its
    // descriptor.
    if (column >= map.columns || row >= map.rows) return;
    std::int32_t head, feature, run, unused;
    features(head, feature, column);
    run_rows(run, unused, row);
    const PushMap::Head to = map.heads[head];
    const std::int32_t to_column = to.local * map.features + feature;
    const std::int32_t to_row = row + map.row_shift[run];
    if constexpr (store == Store::plain) {
      const std::int64_t bytes = row_bytes[to.home % kPushKinds];
      for (int copy = 0; copy < to.copies; ++copy)
        put_rows<rows>(box, base[to.home + copy * kPushKinds] + to_row * bytes + to_column * 2, bytes);
    } else {
      if (!cute::elect_one_sync()) return;
      for (int copy = 0; copy < to.copies; ++copy)
        cute::SM90_TMA_STORE_3D::copy(&homes[to.home + copy * kPushKinds], box, to_column, to_row, 0);
    }
  }

 private:
  /// Four rows at a time, 16 bytes a thread. What was read is in registers when this returns, so that the box may be
  /// written again after the library's next barrier; what was stored is ordered by the end barrier.
  template <int rows>
  CUTE_DEVICE static void put_rows(const void* box, char* to, std::int64_t row_bytes) {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t from = cute::cast_smem_ptr_to_uint(box) + lane * 16;
    to += lane / 8 * row_bytes + lane % 8 * 16;
    CUTE_UNROLL
    for (std::uint32_t row = 0; row < static_cast<std::uint32_t>(rows); row += 4, to += 4 * row_bytes) {
      std::uint32_t at = from + row * 128, a, b, c, d;
      at ^= at >> 3 & 0x70;  // the swizzle of the box
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(at)
                   : "memory");
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
    }
  }
};

}  // namespace megaup::ops

namespace cute {

template <megaup::ops::Store store, class NumBits, class AuxParams_>
struct Copy_Traits<megaup::ops::HeadStore<store>, NumBits, AuxParams_> {
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
  CUTE_DEVICE friend void copy_unpack(const Copy_Traits& traits, const Tensor<Box, BoxLayout>& box,
                                      Tensor<Place, PlaceLayout>& place) {
    static_assert(is_smem<Box>::value, "HeadStore stores from shared memory");
    static_assert(is_same_v<get_swizzle_t<BoxLayout>, Swizzle<3, 3, 3>>, "put_rows() swizzles elements of 16 bits so");
    constexpr int kRowBits = static_cast<int>(megaup::ops::kPushBoxColumns) * 16;
    const auto coordinate = place.data().coord_;  // (column, row, 0): a row-major matrix has its columns first
    traits.routes.template put<store, NumBits::value / kRowBits>(raw_pointer_cast(box.data()), get<0>(coordinate),
                                                                 get<1>(coordinate));
  }
};

}  // namespace cute
