#pragma once

#include <cstdint>

#include <megaup/core/problem.hpp>

/// The index maps of the exchange, once, for allocators, host code, device code and tests. All offsets are 64-bit elements.
///
/// Picture, P = 4, one sequence of S = 16 tokens (s = 4):
///   contiguous   rank 0 [0,1,2,3]    rank 1 [4,5,6,7]    rank 2 [8,9,10,11]  rank 3 [12,13,14,15]
///   dual_chunk   rank 0 [0,1,14,15]  rank 1 [2,3,12,13]  rank 2 [4,5,10,11]  rank 3 [6,7,8,9]
/// Before the exchange rank r holds its tokens for every head (the wide matrix [M, heads*D]); after it, rank p holds every token
/// in natural order for its own heads (tensors [B*S, local heads*D]).
namespace megaup::core {

enum class Head : std::uint8_t { query, key, value };
constexpr int kHeadKinds = 3;

/// A head by kind and index within its kind.
struct HeadId {
  Head kind;
  std::int64_t index;
  friend constexpr bool operator==(HeadId, HeadId) = default;
};

/// Token rows. Local row m of rank r is token (b, u); its destination row is in the natural order of all S tokens.
struct TokenLayout {
  Problem p;

  MEGAUP_HD constexpr std::int64_t sequence(std::int64_t m) const {
    return p.format == ActivationFormat::sbhd ? m % p.B : m / p.s;
  }
  MEGAUP_HD constexpr std::int64_t token(std::int64_t m) const { return p.format == ActivationFormat::sbhd ? m / p.B : m % p.s; }
  /// g(r, u): position of local token u of rank r in its sequence.
  MEGAUP_HD constexpr std::int64_t position(std::int64_t r, std::int64_t u) const {
    if (p.order == SequenceOrder::contiguous) return r * p.s + u;
    const std::int64_t half = p.s / 2;
    return (u < half ? r : 2 * p.P - 1 - r) * half + u % half;
  }
  /// Row in [B*S, ...] of sequence b, position g. thd has equal sequences, so its start[b] = b*S and it equals bshd.
  MEGAUP_HD constexpr std::int64_t global_row(std::int64_t b, std::int64_t g) const {
    return p.format == ActivationFormat::sbhd ? g * p.B + b : b * p.S() + g;
  }
  MEGAUP_HD constexpr std::int64_t destination_row(std::int64_t r, std::int64_t m) const {
    return global_row(sequence(m), position(r, token(m)));
  }
  /// Length of the runs of local rows whose destination rows are contiguous: every aligned run [i*n, (i+1)*n) is one.
  MEGAUP_HD constexpr std::int64_t run_rows() const {
    const std::int64_t tokens = p.order == SequenceOrder::contiguous ? p.s : p.s / 2;
    return p.format == ActivationFormat::sbhd ? tokens * p.B : tokens;
  }
};

/// Which wide matrix an operation moves: [Q K V] in the weight's order (qkv_*), or the query heads alone (out_*).
enum class Columns : std::uint8_t { qkv, query };

/// Head columns of the wide matrix [M, heads()*D] and of the slab that goes to one destination.
struct HeadLayout {
  Problem p;
  Columns columns;

  MEGAUP_HD constexpr std::int64_t heads() const { return columns == Columns::query ? p.Hq : p.Hq + 2 * p.Hk; }
  MEGAUP_HD constexpr std::int64_t width() const { return heads() * p.D; }
  /// Head that occupies columns [j*D, (j+1)*D) of the wide matrix.
  MEGAUP_HD constexpr HeadId at(std::int64_t j) const {
    if (columns == Columns::query) return {Head::query, j};
    if (p.qkv_weight == QkvWeight::concatenated) return at_concatenated(j, p.Hq, p.Hk, 0, 0);
    return at_grouped(j, 0);
  }
  /// Inverse of at().
  MEGAUP_HD constexpr std::int64_t column(HeadId h) const {
    if (columns == Columns::query) return h.index;
    if (p.qkv_weight == QkvWeight::grouped) {
      if (h.kind == Head::query) return (h.index / p.Q()) * (p.Q() + 2) + h.index % p.Q();
      return h.index * (p.Q() + 2) + p.Q() + (h.kind == Head::value ? 1 : 0);
    }
    if (h.kind == Head::query) return h.index;
    return p.Hq + h.index + (h.kind == Head::value ? p.Hk : 0);
  }

  MEGAUP_HD constexpr std::int64_t copies(Head kind) const { return kind == Head::query ? 1 : p.kv_copies(); }
  MEGAUP_HD constexpr std::int64_t local_heads(Head kind) const {
    if (kind == Head::query) return p.local_query_heads();
    return columns == Columns::query ? 0 : p.local_kv_heads();
  }
  /// First rank that holds the head; with KV replication it lives on ranks [first_rank, first_rank + copies).
  MEGAUP_HD constexpr std::int64_t first_rank(HeadId h) const {
    return h.kind != Head::query && p.kv_copies() > 1 ? h.index * p.kv_copies() : h.index / local_heads(h.kind);
  }
  /// Index of the head within its destination's tensor.
  MEGAUP_HD constexpr std::int64_t local_head(HeadId h) const {
    return h.kind != Head::query && p.kv_copies() > 1 ? 0 : h.index % local_heads(h.kind);
  }

  /// Heads (and columns) that one rank sends to one destination: the slab. Every destination's slab has the same width.
  MEGAUP_HD constexpr std::int64_t slab_heads() const {
    return local_heads(Head::query) + local_heads(Head::key) + local_heads(Head::value);
  }
  MEGAUP_HD constexpr std::int64_t slab_width() const { return slab_heads() * p.D; }
  /// i-th head of destination's slab. Weight order, so grouped with Hk % P == 0 is one contiguous run of the wide matrix.
  MEGAUP_HD constexpr HeadId slab_at(std::int64_t destination, std::int64_t i) const {
    if (columns == Columns::qkv && p.qkv_weight == QkvWeight::grouped && p.kv_copies() == 1)
      return at_grouped(i, destination * p.local_kv_heads());
    const std::int64_t first_kv = p.kv_copies() > 1 ? destination / p.kv_copies() : destination * p.local_kv_heads();
    return at_concatenated(i, local_heads(Head::query), local_heads(Head::key), destination * p.local_query_heads(), first_kv);
  }

 private:
  MEGAUP_HD constexpr HeadId at_grouped(std::int64_t j, std::int64_t first_group) const {
    const std::int64_t group = first_group + j / (p.Q() + 2);
    const std::int64_t slot = j % (p.Q() + 2);
    if (slot < p.Q()) return {Head::query, group * p.Q() + slot};
    return {slot == p.Q() ? Head::key : Head::value, group};
  }
  MEGAUP_HD static constexpr HeadId at_concatenated(std::int64_t j, std::int64_t n_query, std::int64_t n_kv,
                                                    std::int64_t first_query, std::int64_t first_kv) {
    if (j < n_query) return {Head::query, first_query + j};
    if (j < n_query + n_kv) return {Head::key, first_kv + j - n_query};
    return {Head::value, first_kv + j - n_query - n_kv};
  }
};

/// Element offset in a destination tensor [B*S, local_heads, D] of row-major rows.
MEGAUP_HD constexpr std::int64_t head_offset(std::int64_t row, std::int64_t local_heads, std::int64_t local_head, std::int64_t D,
                                             std::int64_t d) {
  return (row * local_heads + local_head) * D + d;
}

}  // namespace megaup::core
