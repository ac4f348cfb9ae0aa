#include <megaup/ops/head_copy_cuda.cuh>

#include <megaup/core/dtype.hpp>
#include <megaup/ops/prepared_kernel_cuda.cuh>

namespace megaup::ops {

namespace device {

constexpr int kThreads = 256;
constexpr int kRowsInFlight = 8;  // independent loads of a thread: enough to cover the latency of device memory

using Wide = uint4;            // 16 bytes: the widest load
using Single = std::uint16_t;  // one element, where rows start anywhere
constexpr int kWideElements = sizeof(Wide) / sizeof(core::Bf16);

/// What a block has to do: `columns` are chunks of all pieces together, in one row.
struct Work {
  std::int32_t columns, columns_of_piece, blocks_of_row;
  std::int32_t first, rows;
  const std::byte* from_base;
  std::byte* to_base;

  __device__ std::int32_t column() const {
    return static_cast<std::int32_t>(blockIdx.x) % blocks_of_row * kThreads + static_cast<std::int32_t>(threadIdx.x);
  }
  __device__ std::int32_t row() const { return static_cast<std::int32_t>(blockIdx.x) / blocks_of_row * kRowsInFlight; }
};

template <class Chunk>
__global__ void __launch_bounds__(kThreads) copy_heads(const HeadPiece* pieces, const Work work) {
  constexpr std::int64_t kElements = sizeof(Chunk) / sizeof(core::Bf16);
  const std::int32_t column = work.column(), row = work.row();
  if (column >= work.columns) return;
  const HeadPiece piece = pieces[column / work.columns_of_piece];
  const std::int32_t within = column % work.columns_of_piece;
  const auto* from = reinterpret_cast<const Chunk*>(work.from_base + piece.from) + within;
  auto* to = reinterpret_cast<Chunk*>(work.to_base + piece.to) + within;
  const auto at = [&](const std::int32_t* rows, int i, std::int32_t ld) {
    return (rows == nullptr ? row + i : __ldg(rows + work.first + row + i)) * (ld / kElements);
  };

  Chunk data[kRowsInFlight];
#pragma unroll
  for (int i = 0; i < kRowsInFlight; ++i)
    if (row + i < work.rows) data[i] = __ldcs(from + at(piece.from_rows, i, piece.from_ld));  // read once
#pragma unroll
  for (int i = 0; i < kRowsInFlight; ++i)
    if (row + i < work.rows) to[at(piece.to_rows, i, piece.to_ld)] = data[i];
}

template <int kWidth>
struct alignas(kWidth * sizeof(core::Bf16)) Elements {
  core::Bf16 at[kWidth];
};

template <int kWidth>
__global__ void __launch_bounds__(kThreads) add_heads(const HeadSum* sums, const Work work) {
  const std::int32_t column = work.column();
  if (column >= work.columns) return;
  const HeadSum sum = sums[column / work.columns_of_piece];
  const std::int64_t within = column % work.columns_of_piece;
  for (int i = 0; i < kRowsInFlight; ++i) {
    const std::int64_t row = work.row() + i;
    if (row >= work.rows) return;
    const auto elements = [&](int copy) {
      const std::byte* base = work.from_base + sum.from + copy * sum.copy_stride;
      return reinterpret_cast<const Elements<kWidth>*>(base)[row * (sum.from_ld / kWidth) + within];
    };
    float total[kWidth];
    Elements<kWidth> next = elements(0);
    for (int j = 0; j < kWidth; ++j) total[j] = next.at[j].to_float();
    for (int copy = 1; copy < sum.copies; ++copy) {
      next = elements(copy);
      for (int j = 0; j < kWidth; ++j) total[j] += next.at[j].to_float();
    }
    for (int j = 0; j < kWidth; ++j) next.at[j] = core::Bf16::from_float(total[j]);
    reinterpret_cast<Elements<kWidth>*>(work.to_base + sum.to)[row * (sum.to_ld / kWidth) + within] = next;
  }
}

template <class Piece>
Work work_of(const HeadTable<Piece>& table, int elements, const void* from_base, void* to_base, std::int64_t first,
             std::int64_t rows) {
  Work work{};
  work.columns_of_piece = table.features / elements;
  work.columns = table.count * work.columns_of_piece;
  work.blocks_of_row = (work.columns + kThreads - 1) / kThreads;
  work.first = static_cast<std::int32_t>(first);
  work.rows = static_cast<std::int32_t>(rows);
  work.from_base = static_cast<const std::byte*>(from_base);
  work.to_base = static_cast<std::byte*>(to_base);
  return work;
}

unsigned blocks(const Work& work) {
  return static_cast<unsigned>(work.blocks_of_row) *
         static_cast<unsigned>((work.rows + kRowsInFlight - 1) / kRowsInFlight);
}

}  // namespace device

void launch_head_copy(cudaStream_t stream, const HeadTable<HeadPiece>& table, const void* from_base, void* to_base,
                      std::int64_t first, std::int64_t rows) {
  using namespace device;
  if (table.count == 0 || rows == 0) return;
  if (table.wide) {
    const Work work = work_of(table, kWideElements, from_base, to_base, first, rows);
    copy_heads<Wide><<<blocks(work), kThreads, 0, stream>>>(table.pieces, work);
  } else {
    const Work work = work_of(table, 1, from_base, to_base, first, rows);
    copy_heads<Single><<<blocks(work), kThreads, 0, stream>>>(table.pieces, work);
  }
  check(cudaGetLastError(), "launch of a reorder");
}

void launch_head_sum(cudaStream_t stream, const HeadTable<HeadSum>& table, const void* from_base, void* to_base,
                     std::int64_t rows) {
  using namespace device;
  if (table.count == 0 || rows == 0) return;
  const Work work = work_of(table, table.wide ? kWideElements : 1, from_base, to_base, 0, rows);
  const auto kernel = table.wide ? add_heads<kWideElements> : add_heads<1>;
  kernel<<<blocks(work), kThreads, 0, stream>>>(table.pieces, work);
  check(cudaGetLastError(), "launch of a sum of heads");
}

cudaError_t head_copy_loadable() {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, device::copy_heads<device::Wide>);
  cudaGetLastError();  // an answer, not an error of a launch to come
  return error;
}

}  // namespace megaup::ops
