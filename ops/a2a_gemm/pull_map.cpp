#include <megaup/ops/a2a_gemm/pull_map.hpp>

#include <limits>
#include <vector>

#include <fmt/format.h>

namespace megaup::ops {

namespace {

using core::Head;
using core::HeadId;
using core::HeadLayout;

constexpr Head kKinds[] = {Head::query, Head::key, Head::value};

bool replicated(const core::Problem& problem, core::Columns columns) {
  return columns == core::Columns::qkv && problem.kv_copies() > 1;
}

/// Local heads of a kind that are copied as they are; replicated ones are added instead.
std::int64_t staged_heads(const HeadLayout& layout, Head kind) {
  return kind != Head::query && replicated(layout.p, layout.columns) ? 0 : layout.local_heads(kind);
}

/// First global index of a rank's heads of one kind.
HeadId first_head(const HeadLayout& layout, Head kind, std::int64_t rank) {
  return {kind, rank * layout.local_heads(kind)};
}

std::uint16_t narrow(std::int64_t tiles) { return static_cast<std::uint16_t>(tiles); }

/// The shard of rank 0, in the order of the weight, so that its rows are read from one end to the other.
std::vector<PullMap::Segment> shard_segments(const HeadLayout& layout) {
  const std::int64_t head_tiles = layout.p.D / kPullTileK;
  std::vector<PullMap::Segment> segments;
  for (std::int64_t i = 0; i < layout.slab_heads(); ++i) {
    const HeadId head = layout.slab_at(0, i);
    if (staged_heads(layout, head.kind) == 0) continue;
    const PullMap::Segment next{.source = static_cast<std::uint16_t>(head.kind),
                                .from = narrow(layout.local_head(head) * head_tiles),
                                .weight = narrow(layout.column(head) * head_tiles),
                                .count = narrow(head_tiles)};
    PullMap::Segment* last = segments.empty() ? nullptr : &segments.back();
    if (last != nullptr && last->source == next.source && last->from + last->count == next.from &&
        last->weight + last->count == next.weight)
      last->count = narrow(last->count + head_tiles);
    else
      segments.push_back(next);
  }
  return segments;
}

/// Sum 2k is KV head k's key, sum 2k+1 its value.
std::vector<PullMap::Segment> sum_segments(const HeadLayout& layout) {
  std::vector<PullMap::Segment> segments;
  if (!replicated(layout.p, layout.columns)) return segments;
  const std::int64_t head_tiles = layout.p.D / kPullTileK;
  for (std::int64_t k = 0; k < layout.p.Hk; ++k)
    for (const Head kind : {Head::key, Head::value})
      segments.push_back({.source = narrow(segments.size()),
                          .from = 0,
                          .weight = narrow(layout.column({kind, k}) * head_tiles),
                          .count = narrow(head_tiles)});
  return segments;
}

std::int64_t staged_width(const HeadLayout& layout) {
  std::int64_t heads = 0;
  for (const Head kind : kKinds) heads += staged_heads(layout, kind);
  return heads * layout.p.D;
}

}  // namespace

core::Reason pull_refusal(const core::Problem& problem, core::Columns columns) {
  const HeadLayout layout{problem, columns};
  const core::TokenLayout tokens{problem};
  if (problem.P > PullMap::kMaxRanks)
    return fmt::format("{} ranks: the kernel carries addresses for {}", problem.P, PullMap::kMaxRanks);
  if (problem.D % kPullTileK != 0)
    return fmt::format("D = {} is not a multiple of {}: a K tile would straddle two heads", problem.D, kPullTileK);
  if (layout.width() / kPullTileK > std::numeric_limits<std::uint16_t>::max())
    return fmt::format("{} columns: the kernel's tables hold {}", layout.width(),
                       kPullTileK * std::numeric_limits<std::uint16_t>::max());
  if (tokens.run_rows() % kPullTileRows != 0)
    return fmt::format("rows of the heads come in runs of {}, which is not a multiple of the tile's {} rows",
                       tokens.run_rows(), kPullTileRows);
  if (problem.M() / tokens.run_rows() > PullMap::kMaxRuns)
    return fmt::format("{} runs of rows of the heads: the kernel's row table holds {}", problem.M() / tokens.run_rows(),
                       PullMap::kMaxRuns);
  const std::size_t segments = shard_segments(layout).size() + sum_segments(layout).size();
  if (segments > PullMap::kMaxSegments)
    return fmt::format("the columns of A come in {} segments: the kernel's table holds {}", segments,
                       PullMap::kMaxSegments);
  if (problem.B * problem.S() > std::numeric_limits<std::int32_t>::max())
    return fmt::format("{} rows of the heads do not fit the 32-bit coordinates of a bulk tensor load",
                       problem.B * problem.S());
  return {};
}

PullMap pull_map(const core::Problem& problem, core::Columns columns, std::int64_t r, ShardOrder order) {
  const HeadLayout layout{problem, columns};
  const core::TokenLayout tokens{problem};
  const std::int64_t head_tiles = problem.D / kPullTileK;
  const auto shard = shard_segments(layout), sums = sum_segments(layout);
  PullMap map;
  map.ranks = static_cast<std::int32_t>(problem.P);
  map.rank = static_cast<std::int32_t>(r);
  map.first = order == ShardOrder::own_first ? map.rank : 0;
  map.rows = static_cast<std::int32_t>(problem.M());
  map.run_tiles = static_cast<std::int32_t>(tokens.run_rows() / kPullTileRows);
  map.head_tiles = static_cast<std::int32_t>(head_tiles);
  map.sums = static_cast<std::int32_t>(sums.size());
  map.copies = static_cast<std::int32_t>(sums.empty() ? 1 : problem.kv_copies());
  map.shard_segments = static_cast<std::int32_t>(shard.size());
  map.sum_segments = map.sums;
  auto next = map.segments.begin();
  for (const auto& segment : shard) *next++ = segment;
  for (const auto& segment : sums) *next++ = segment;
  for (const Head kind : kKinds) {
    const auto k = static_cast<std::size_t>(kind);
    map.tiles[k] = narrow(staged_heads(layout, kind) * head_tiles);
    if (map.tiles[k] == 0) continue;
    for (std::int64_t p = 0; p < problem.P; ++p)
      map.weight_shift[k][static_cast<std::size_t>(p)] = narrow(
          (layout.column(first_head(layout, kind, p)) - layout.column(first_head(layout, kind, 0))) * head_tiles);
  }
  for (std::int64_t run = 0; run < problem.M() / tokens.run_rows(); ++run) {
    const std::int64_t m = run * tokens.run_rows();
    map.tile_shift[static_cast<std::size_t>(run)] =
        static_cast<std::int32_t>((tokens.destination_row(r, m) - m) / kPullTileRows);
  }
  return map;
}

std::int64_t pull_staging_bytes(const core::Problem& problem, core::Columns columns) {
  const HeadLayout layout{problem, columns};
  const std::int64_t sums = replicated(problem, columns) ? 2 * problem.Hk * problem.D : 0;
  return problem.M() * (problem.P * staged_width(layout) + sums) * core::kElementBytes;
}

std::int64_t pull_peer_words(const core::Problem& problem) { return 2 * problem.P; }

std::int64_t pull_local_words(const core::Problem& problem) {
  return 4 + problem.M() / kPullTileRows * (problem.P + 1);
}

std::string pull_fault(std::uint32_t lost) {
  const std::uint32_t rank = (lost & 0xff) - 1;
  switch (lost >> 8) {
    case 0: return fmt::format("rank {} did not say in time that its heads are ready", rank);
    case 1: return fmt::format("the heads of rank {} did not land in the staging buffer in time", rank);
    case 2: return fmt::format("rank {} did not say in time that it has read this rank's heads", rank);
    case 3: return "the sums of replicated heads did not land in the staging buffer in time";
    default: return fmt::format("unknown fault {:#x}", lost);
  }
}

}  // namespace megaup::ops
