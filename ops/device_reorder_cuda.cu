#include <megaup/ops/device_reorder_cuda.cuh>

namespace megaup::ops {
namespace {

using core::kElementBytes;

std::int64_t address(const core::Bf16* element) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(element));
}

std::vector<std::int32_t> all_destination_rows(const core::Problem& problem) {
  std::vector<std::int32_t> rows;
  rows.reserve(static_cast<std::size_t>(problem.P * problem.M()));
  for (std::int64_t r = 0; r < problem.P; ++r)
    for (const std::int64_t row : destination_rows(problem, r)) rows.push_back(static_cast<std::int32_t>(row));
  return rows;
}

/// Where the heads of one slab lie, one entry a head that `only` lets in.
struct SlabHead {
  core::HeadId head;
  std::int64_t column;  // in the slab
};

std::vector<SlabHead> slab_heads(const core::HeadLayout& layout, std::int64_t destination, OnlyKind only) {
  std::vector<SlabHead> heads;
  std::int64_t column = 0;
  for (std::int64_t i = 0; i < layout.slab_heads(); ++i) {
    const core::HeadId head = layout.slab_at(destination, i);
    if (only && head.kind != *only) continue;
    heads.push_back({head, column});
    column += layout.p.D;
  }
  return heads;
}

/// What the tables are made of.
struct Sides {
  core::HeadLayout layout;
  core::Bf16Matrix wide;
  HeadTensors heads;
  std::int64_t rank, slab_rows, slab_columns;
  OnlyKind only;
  const std::int32_t* rows;

  std::int64_t in_slab(std::int64_t peer, std::int64_t column) const {
    return (peer * slab_rows * slab_columns + column) * kElementBytes;
  }
  std::int64_t in_wide(core::HeadId head) const { return address(wide.data + layout.column(head) * layout.p.D); }
  std::int32_t slab_ld() const { return static_cast<std::int32_t>(slab_columns); }
  std::int32_t wide_ld() const { return static_cast<std::int32_t>(wide.ld); }
  bool summed(core::HeadId head) const { return layout.copies(head.kind) > 1; }
};

HeadPiece reversed(const HeadPiece& piece) {
  return {piece.to, piece.from, piece.to_ld, piece.from_ld, piece.to_rows, piece.from_rows};
}

std::vector<HeadPiece> reversed(std::vector<HeadPiece> pieces) {
  for (HeadPiece& piece : pieces) piece = reversed(piece);
  return pieces;
}

/// wide -> slabs; a replicated head goes to several. `with_replicas` false leaves such heads out.
std::vector<HeadPiece> wide_pieces(const Sides& s, bool with_replicas) {
  std::vector<HeadPiece> pieces;
  for (std::int64_t peer = 0; peer < s.layout.p.P; ++peer)
    for (const SlabHead& at : slab_heads(s.layout, peer, s.only))
      if (with_replicas || !s.summed(at.head))
        pieces.push_back({s.in_wide(at.head), s.in_slab(peer, at.column), s.wide_ld(), s.slab_ld(), nullptr, nullptr});
  return pieces;
}

/// This rank's heads -> slabs, the rows of every peer into its slab.
std::vector<HeadPiece> head_pieces(const Sides& s) {
  std::vector<HeadPiece> pieces;
  for (std::int64_t peer = 0; peer < s.layout.p.P; ++peer)
    for (const SlabHead& at : slab_heads(s.layout, s.rank, s.only)) {
      const core::Bf16Matrix tensor = s.heads[at.head.kind];
      pieces.push_back({address(tensor.data + s.layout.local_head(at.head) * s.layout.p.D), s.in_slab(peer, at.column),
                        static_cast<std::int32_t>(tensor.ld), s.slab_ld(), s.rows + peer * s.layout.p.M(), nullptr});
    }
  return pieces;
}

/// slabs -> wide for the heads that several ranks contribute to: their slabs are neighbours, in rank order.
std::vector<HeadSum> head_sums(const Sides& s) {
  std::vector<HeadSum> sums;
  for (std::int64_t peer = 0; peer < s.layout.p.P; ++peer)
    for (const SlabHead& at : slab_heads(s.layout, peer, s.only))
      if (s.summed(at.head) && s.layout.first_rank(at.head) == peer)
        sums.push_back({s.in_slab(peer, at.column), s.in_slab(1, 0), s.in_wide(at.head), s.slab_ld(), s.wide_ld(),
                        static_cast<std::int32_t>(s.layout.copies(at.head.kind)), 0});
  return sums;
}

Sides sides(const Operands& operands, core::Bf16Matrix wide, std::int64_t slab_rows, OnlyKind only,
            const std::int32_t* rows) {
  const core::HeadLayout layout{operands.problem(), operands.operation().columns};
  return {.layout = layout,
          .wide = wide,
          .heads = operands.device_heads(operands.rank()),
          .rank = operands.rank(),
          .slab_rows = slab_rows,
          .slab_columns = slab_columns(layout, only),
          .only = only,
          .rows = rows};
}

/// Whether every piece starts and steps at multiples of 16 bytes.
bool aligned(const Sides& s) {
  constexpr std::int64_t kWide = 16;
  bool yes = s.layout.p.D * kElementBytes % kWide == 0 && s.wide.ld * kElementBytes % kWide == 0;
  for (const core::Bf16Matrix& tensor : s.heads.tensor)
    yes = yes && tensor.ld * kElementBytes % kWide == 0 && address(tensor.data) % kWide == 0;
  return yes && address(s.wide.data) % kWide == 0;
}

}  // namespace

DeviceReorder::DeviceReorder(core::Device& device, const Operands& operands, core::Bf16Matrix wide,
                             std::int64_t slab_rows, OnlyKind only)
    : device_(&device),
      slab_rows_(slab_rows),
      slab_columns_(ops::slab_columns({operands.problem(), operands.operation().columns}, only)),
      features_(static_cast<std::int32_t>(operands.problem().D)),
      wide_loads_(aligned(sides(operands, wide, slab_rows, only, nullptr))),
      rows_(device, all_destination_rows(operands.problem())),
      wide_to_slabs_(device, wide_pieces(sides(operands, wide, slab_rows, only, nullptr), true)),
      slabs_to_heads_(device, reversed(head_pieces(sides(operands, wide, slab_rows, only, rows_.data())))),
      heads_to_slabs_(device, head_pieces(sides(operands, wide, slab_rows, only, rows_.data()))),
      slabs_to_wide_(device, reversed(wide_pieces(sides(operands, wide, slab_rows, only, nullptr), false))),
      sums_(device, head_sums(sides(operands, wide, slab_rows, only, nullptr))) {}

HeadTable<HeadPiece> DeviceReorder::table(const DeviceTable<HeadPiece>& pieces) const {
  return {pieces.data(), pieces.count(), features_, wide_loads_};
}

void DeviceReorder::wide_to_slabs(std::byte* slabs, RowRange rows) const {
  launch_head_copy(stream(), table(wide_to_slabs_), nullptr, slabs, rows.first, rows.count);
}

void DeviceReorder::slabs_to_heads(const std::byte* slabs, RowRange rows) const {
  launch_head_copy(stream(), table(slabs_to_heads_), slabs, nullptr, rows.first, rows.count);
}

void DeviceReorder::heads_to_slabs(std::byte* slabs, RowRange rows) const {
  launch_head_copy(stream(), table(heads_to_slabs_), nullptr, slabs, rows.first, rows.count);
}

void DeviceReorder::slabs_to_wide(const std::byte* slabs, RowRange rows) const {
  launch_head_copy(stream(), table(slabs_to_wide_), slabs, nullptr, rows.first, rows.count);
  const HeadTable<HeadSum> sums{sums_.data(), sums_.count(), features_, wide_loads_};
  launch_head_sum(stream(), sums, slabs, nullptr, rows.count);
}

std::int64_t DeviceReorder::bytes(const Operation& op, const core::Problem& problem, OnlyKind only) {
  const core::HeadLayout layout{problem, op.columns};
  std::int64_t pieces = 0, summed = 0, sums = 0;
  for (int k = 0; k < core::kHeadKinds; ++k) {
    const auto kind = static_cast<core::Head>(k);
    if (only && kind != *only) continue;
    const std::int64_t of_kind = problem.P * layout.local_heads(kind);
    pieces += of_kind;
    if (layout.copies(kind) == 1) continue;
    summed += of_kind;
    sums += of_kind / layout.copies(kind);
  }
  return problem.P * problem.M() * static_cast<std::int64_t>(sizeof(std::int32_t)) +
         (4 * pieces - summed) * static_cast<std::int64_t>(sizeof(HeadPiece)) +
         sums * static_cast<std::int64_t>(sizeof(HeadSum));
}

}  // namespace megaup::ops
