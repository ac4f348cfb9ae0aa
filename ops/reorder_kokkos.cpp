#include <megaup/ops/reorder.hpp>

#include <algorithm>
#include <cstring>

#include <Kokkos_Core.hpp>

namespace megaup::ops {
namespace {

using core::Bf16;
using core::Bf16Matrix;
using core::ConstBf16Matrix;

// Rows that one task moves: a block of a wide matrix stays in the second-level cache while its slabs are written one after the other.
constexpr std::int64_t kBlockRows = 16;

/// Ranks may be threads of one process, so each call brings an instance of its own where this Kokkos can make one.
template <class Space>
Space own_instance() {
#if KOKKOS_VERSION >= 40200
  return Kokkos::Experimental::partition_space(Space(), 1)[0];
#else
  return Space();
#endif
}

template <class Space, class Task>
void launch(std::int64_t tasks, const Task& task) {
  const Space space = own_instance<Space>();
  Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(space, 0, tasks), task);
  space.fence();
}

/// Calls task(range) for blocks of the rows, on the cores of this rank.
template <class Task>
void for_row_blocks(RowRange rows, int threads, const Task& task) {
  const auto block = [=](std::int64_t i) {
    const std::int64_t first = rows.first + i * kBlockRows;
    task(RowRange{first, std::min(kBlockRows, rows.first + rows.count - first), rows.slab_rows});
  };
  const std::int64_t tasks = (rows.count + kBlockRows - 1) / kBlockRows;
#if defined(KOKKOS_ENABLE_SERIAL)
  if (threads == 1) return launch<Kokkos::Serial>(tasks, block);  // no fork for one core
#endif
  launch<Kokkos::DefaultHostExecutionSpace>(tasks, block);
}

/// Calls visit(local row, destination row, n) for the longest runs of rows of rank r that stay neighbours in the destination.
template <class Visit>
void for_row_runs(const core::TokenLayout& tokens, std::int64_t r, RowRange rows, const Visit& visit) {
  const std::int64_t end = rows.first + rows.count;
  for (std::int64_t m = rows.first; m < end;) {
    const std::int64_t run_end = (m / tokens.run_rows() + 1) * tokens.run_rows();
    const std::int64_t n = std::min(end, run_end) - m;
    visit(m, tokens.destination_row(r, m), n);
    m += n;
  }
}

void copy(Bf16* to, std::int64_t to_ld, const Bf16* from, std::int64_t from_ld, std::int64_t rows, std::int64_t columns) {
  if (to_ld == columns && from_ld == columns) {  // one block in both
    columns *= rows;
    rows = 1;
  }
  const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(Bf16);
  for (std::int64_t i = 0; i < rows; ++i) std::memcpy(to + i * to_ld, from + i * from_ld, bytes);
}

/// to = sum over copies of from[c*stride], in FP32 and in this order, rounded once.
void add_copies(Bf16* to, const Bf16* from, std::int64_t stride, std::int64_t copies, std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) {
    float sum = from[j].to_float();
    for (std::int64_t c = 1; c < copies; ++c) sum += from[c * stride + j].to_float();
    to[j] = Bf16::from_float(sum);
  }
}

}  // namespace

Reorder::Reorder(const core::Problem& problem, core::Columns columns, int rank, int threads, OnlyKind only)
    : tokens_{problem}, threads_(threads), tensor_runs_(tensor_runs({problem, columns}, rank, only)) {
  const core::HeadLayout layout{problem, columns};
  slab_columns_ = ops::slab_columns(layout, only);
  const bool replicated = columns == core::Columns::qkv && problem.kv_copies() > 1;
  for (std::int64_t p = 0; p < problem.P; ++p) {
    to_peer_.push_back(wide_runs(layout, p, only));
    if (!replicated) {
      from_peer_.push_back(to_peer_.back());
      continue;
    }
    from_peer_.push_back(only && *only != core::Head::query ? std::vector<WideRun>{} : wide_runs(layout, p, core::Head::query));
    if (p % problem.kv_copies() != 0) continue;
    for (const core::Head kind : {core::Head::key, core::Head::value})
      if (!only || *only == kind)
        for (const WideRun& run : wide_runs(layout, p, kind)) {
          const std::int64_t slab = only ? 0 : (problem.local_query_heads() + (kind == core::Head::value ? 1 : 0)) * problem.D;
          sums_.push_back({run.wide, slab, run.columns, p, problem.kv_copies()});
        }
  }
}

void Reorder::wide_to_slabs(Bf16* slabs, ConstBf16Matrix wide, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(rows, threads_, [=, this](RowRange block) {
    for (std::size_t p = 0; p < to_peer_.size(); ++p) {
      Bf16* slab = slabs + (static_cast<std::int64_t>(p) * rows.slab_rows + block.first - rows.first) * ld;
      for (const WideRun& run : to_peer_[p]) copy(slab + run.slab, ld, wide.row(block.first - rows.first) + run.wide, wide.ld, block.count, run.columns);
    }
  });
}

void Reorder::slabs_to_heads(const HeadTensors& heads, const Bf16* slabs, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(rows, threads_, [=, this](RowRange block) {
    for (std::int64_t q = 0; q < tokens_.p.P; ++q)
      for_row_runs(tokens_, q, block, [&](std::int64_t m, std::int64_t row, std::int64_t n) {
        const Bf16* slab = slabs + (q * rows.slab_rows + m - rows.first) * ld;
        for (const TensorRun& run : tensor_runs_) {
          const Bf16Matrix tensor = heads[run.kind];
          copy(tensor.row(row) + run.local, tensor.ld, slab + run.slab, ld, n, run.columns);
        }
      });
  });
}

void Reorder::heads_to_slabs(Bf16* slabs, const HeadTensors& heads, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(rows, threads_, [=, this](RowRange block) {
    for (std::int64_t p = 0; p < tokens_.p.P; ++p)
      for_row_runs(tokens_, p, block, [&](std::int64_t m, std::int64_t row, std::int64_t n) {
        Bf16* slab = slabs + (p * rows.slab_rows + m - rows.first) * ld;
        for (const TensorRun& run : tensor_runs_) {
          const Bf16Matrix tensor = heads[run.kind];
          copy(slab + run.slab, ld, tensor.row(row) + run.local, tensor.ld, n, run.columns);
        }
      });
  });
}

void Reorder::slabs_to_wide(Bf16Matrix wide, const Bf16* slabs, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(rows, threads_, [=, this](RowRange block) {
    const std::int64_t offset = block.first - rows.first;
    for (std::size_t q = 0; q < from_peer_.size(); ++q) {
      const Bf16* slab = slabs + (static_cast<std::int64_t>(q) * rows.slab_rows + offset) * ld;
      for (const WideRun& run : from_peer_[q]) copy(wide.row(offset) + run.wide, wide.ld, slab + run.slab, ld, block.count, run.columns);
    }
    for (const SumRun& sum : sums_)
      for (std::int64_t i = 0; i < block.count; ++i)
        add_copies(wide.row(offset + i) + sum.wide, slabs + (sum.rank * rows.slab_rows + offset + i) * ld + sum.slab, rows.slab_rows * ld,
                   sum.copies, sum.columns);
  });
}

}  // namespace megaup::ops
