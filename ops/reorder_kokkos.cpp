#include <megaup/ops/reorder.hpp>

#include <algorithm>
#include <cstring>

#include <Kokkos_Core.hpp>

namespace megaup::ops {
namespace {

using core::Bf16;
using core::Bf16Matrix;
using core::ConstBf16Matrix;

constexpr std::int64_t kBlockRows =
    64;  // rows that one task moves: enough to pay for starting it, few enough to share among cores

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

/// Calls task(peer, block) for all blocks of the rows, peer after peer, on the cores of this rank.
template <class Task>
void for_row_blocks(std::int64_t peers, RowRange rows, int threads, const Task& task) {
  const std::int64_t blocks = (rows.count + kBlockRows - 1) / kBlockRows;
  const auto step = [=](std::int64_t i) {
    const std::int64_t first = rows.first + i % blocks * kBlockRows;
    task(i / blocks, RowRange{first, std::min(kBlockRows, rows.first + rows.count - first), rows.slab_rows});
  };
#if defined(KOKKOS_ENABLE_SERIAL)
  if (threads == 1) return launch<Kokkos::Serial>(peers * blocks, step);  // no fork for one core
#endif
  launch<Kokkos::DefaultHostExecutionSpace>(peers * blocks, step);
}

/// Calls visit(local row, destination row, n) for the longest runs of rows of rank r that stay neighbours in the
/// destination.
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

/// In blocks of a fixed size, which the compiler turns into plain vector moves: for runs of some kilobytes a call of
/// memcpy takes up to twice as long.
void copy(Bf16* to, const Bf16* from, std::int64_t columns) {
  constexpr std::int64_t kBlock = 128;  // a head of the usual size
  std::int64_t j = 0;
  for (; j + kBlock <= columns; j += kBlock) std::memcpy(to + j, from + j, kBlock * sizeof(Bf16));
  if (j < columns) std::memcpy(to + j, from + j, static_cast<std::size_t>(columns - j) * sizeof(Bf16));
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
  for (std::int64_t p = 0; p < problem.P; ++p)
    for (const WideRun& run : wide_runs(layout, p, only)) to_peers_.push_back({run.wide, p, run.slab, run.columns});
  std::ranges::sort(to_peers_, {}, &PeerRun::wide);
  if (columns == core::Columns::query || problem.kv_copies() == 1) {
    from_peers_ = to_peers_;
    return;
  }
  // Replicated KV heads: the slab is [query heads | key | value], and only the query columns have one source.
  const std::int64_t query_columns = only ? 0 : problem.local_query_heads() * problem.D;
  for (std::int64_t p = 0; p < problem.P; ++p) {
    if (!only || *only == core::Head::query)
      for (const WideRun& run : wide_runs(layout, p, core::Head::query))
        from_peers_.push_back({run.wide, p, run.slab, run.columns});
    if (p % problem.kv_copies() != 0) continue;
    for (const core::Head kind : {core::Head::key, core::Head::value})
      if (!only || *only == kind)
        for (const WideRun& run : wide_runs(layout, p, kind)) {
          const std::int64_t slab = query_columns + (!only && kind == core::Head::value ? problem.D : 0);
          sums_.push_back({run.wide, slab, run.columns, p, problem.kv_copies()});
        }
  }
  std::ranges::sort(from_peers_, {}, &PeerRun::wide);
}

// The order decides the speed: the wide matrix is walked row by row in the order of its columns, the heads peer by
// peer, always through all runs of a row. Each side is then a few streams, which the processor fetches ahead. Run after
// run would come back to every row, and rows that lie 4096 bytes apart share a few sets of the cache: half the speed.

void Reorder::wide_to_slabs(Bf16* slabs, ConstBf16Matrix wide, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(1, rows, threads_, [=, this](std::int64_t, RowRange block) {
    for (std::int64_t i = block.first - rows.first; i < block.first - rows.first + block.count; ++i)
      for (const PeerRun& run : to_peers_)
        copy(slabs + (run.peer * rows.slab_rows + i) * ld + run.slab, wide.row(i) + run.wide, run.columns);
  });
}

void Reorder::slabs_to_heads(const HeadTensors& heads, const Bf16* slabs, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(tokens_.p.P, rows, threads_, [=, this](std::int64_t q, RowRange block) {
    for_row_runs(tokens_, q, block, [&](std::int64_t m, std::int64_t row, std::int64_t n) {
      const Bf16* slab = slabs + (q * rows.slab_rows + m - rows.first) * ld;
      for (std::int64_t i = 0; i < n; ++i)
        for (const TensorRun& run : tensor_runs_)
          copy(heads[run.kind].row(row + i) + run.local, slab + i * ld + run.slab, run.columns);
    });
  });
}

void Reorder::heads_to_slabs(Bf16* slabs, const HeadTensors& heads, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(tokens_.p.P, rows, threads_, [=, this](std::int64_t p, RowRange block) {
    for_row_runs(tokens_, p, block, [&](std::int64_t m, std::int64_t row, std::int64_t n) {
      Bf16* slab = slabs + (p * rows.slab_rows + m - rows.first) * ld;
      for (std::int64_t i = 0; i < n; ++i)
        for (const TensorRun& run : tensor_runs_)
          copy(slab + i * ld + run.slab, heads[run.kind].row(row + i) + run.local, run.columns);
    });
  });
}

void Reorder::slabs_to_wide(Bf16Matrix wide, const Bf16* slabs, RowRange rows) const {
  const std::int64_t ld = slab_columns_;
  for_row_blocks(1, rows, threads_, [=, this](std::int64_t, RowRange block) {
    for (std::int64_t i = block.first - rows.first; i < block.first - rows.first + block.count; ++i) {
      for (const PeerRun& run : from_peers_)
        copy(wide.row(i) + run.wide, slabs + (run.peer * rows.slab_rows + i) * ld + run.slab, run.columns);
      for (const SumRun& sum : sums_)
        add_copies(wide.row(i) + sum.wide, slabs + (sum.rank * rows.slab_rows + i) * ld + sum.slab, rows.slab_rows * ld,
                   sum.copies, sum.columns);
    }
  });
}

}  // namespace megaup::ops
