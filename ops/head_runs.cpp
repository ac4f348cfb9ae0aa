#include <megaup/ops/head_runs.hpp>

namespace megaup::ops {
namespace {

/// Calls visit(head, slab column) for every head of a slab that `only` lets in.
template <class Visit>
void each_slab_head(const core::HeadLayout& layout, std::int64_t destination, OnlyKind only, const Visit& visit) {
  std::int64_t slab = 0;
  for (std::int64_t i = 0; i < layout.slab_heads(); ++i) {
    const core::HeadId head = layout.slab_at(destination, i);
    if (only && head.kind != *only) continue;
    visit(head, slab);
    slab += layout.p.D;
  }
}

}  // namespace

std::int64_t slab_columns(const core::HeadLayout& layout, OnlyKind only) {
  return only ? layout.local_heads(*only) * layout.p.D : layout.slab_width();
}

std::vector<WideRun> wide_runs(const core::HeadLayout& layout, std::int64_t destination, OnlyKind only) {
  const std::int64_t D = layout.p.D;
  std::vector<WideRun> runs;
  each_slab_head(layout, destination, only, [&](core::HeadId head, std::int64_t slab) {
    const std::int64_t wide = layout.column(head) * D;
    if (!runs.empty() && runs.back().wide + runs.back().columns == wide &&
        runs.back().slab + runs.back().columns == slab)
      runs.back().columns += D;
    else
      runs.push_back({wide, slab, D});
  });
  return runs;
}

std::vector<TensorRun> tensor_runs(const core::HeadLayout& layout, std::int64_t rank, OnlyKind only) {
  const std::int64_t D = layout.p.D;
  std::vector<TensorRun> runs;
  each_slab_head(layout, rank, only, [&](core::HeadId head, std::int64_t slab) {
    const std::int64_t local = layout.local_head(head) * D;
    if (!runs.empty() && runs.back().kind == head.kind && runs.back().local + runs.back().columns == local)
      runs.back().columns += D;  // slab columns are visited in order, so they are neighbours already
    else
      runs.push_back({head.kind, local, slab, D});
  });
  return runs;
}

std::vector<HomeRun> home_runs(const core::HeadLayout& layout) {
  const std::int64_t D = layout.p.D;
  std::vector<HomeRun> runs;
  for (std::int64_t j = 0; j < layout.heads(); ++j) {
    const core::HeadId head = layout.at(j);
    const HomeRun next{head.kind,
                       j * D,
                       layout.local_head(head) * D,
                       D,
                       static_cast<int>(layout.first_rank(head)),
                       static_cast<int>(layout.copies(head.kind))};
    HomeRun* last = runs.empty() ? nullptr : &runs.back();
    if (last && last->kind == next.kind && last->rank == next.rank && last->local + last->columns == next.local)
      last->columns += D;
    else
      runs.push_back(next);
  }
  return runs;
}

std::vector<std::int64_t> destination_rows(const core::Problem& problem, std::int64_t r) {
  const core::TokenLayout tokens{problem};
  std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.M()));
  for (std::int64_t m = 0; m < problem.M(); ++m) rows[static_cast<std::size_t>(m)] = tokens.destination_row(r, m);
  return rows;
}

}  // namespace megaup::ops
