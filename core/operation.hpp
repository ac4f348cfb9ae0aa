#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <megaup/core/layout.hpp>
#include <megaup/core/problem.hpp>

namespace megaup::core {

/// Which way the data moves. Every operation has a hidden side (matrix [M, H], tokens of this rank) and a heads side
/// (tensors [B*S, local heads, D], all tokens for the heads of this rank).
enum class Kind : std::uint8_t {
  gemm_to_a2a,  ///< hidden side in, heads side out: qkv_fwd, out_dgrad
  a2a_to_gemm,  ///< heads side in, hidden side out: out_fwd, qkv_dgrad
};

/// GEMM C[m, n] = A[m, k] * B, with B = W^T if `weight_transposed` (W is [n, k], forward, TN) else B = W ([k, n],
/// dgrad, NN).
struct GemmShape {
  std::int64_t m, n, k;
  bool weight_transposed;
  friend constexpr bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// What an operation is, whoever measures or predicts it: enough for its shapes, bytes and FLOP.
struct OperationForm {
  std::string_view name;
  Kind kind;
  Columns columns;         ///< heads that are moved: qkv (Q, K and V) or query (Q alone)
  bool weight_transposed;  ///< forward
};

/// In the order in which a training step meets them.
inline constexpr OperationForm kQkvFwd{"qkv_fwd", Kind::gemm_to_a2a, Columns::qkv, true};
inline constexpr OperationForm kOutFwd{"out_fwd", Kind::a2a_to_gemm, Columns::query, true};
inline constexpr OperationForm kOutDgrad{"out_dgrad", Kind::gemm_to_a2a, Columns::query, false};
inline constexpr OperationForm kQkvDgrad{"qkv_dgrad", Kind::a2a_to_gemm, Columns::qkv, false};
inline constexpr std::array<OperationForm, 4> kOperationForms{kQkvFwd, kOutFwd, kOutDgrad, kQkvDgrad};

/// nullptr when there is none of that name.
constexpr const OperationForm* find_form(std::string_view name) {
  const auto* const found = std::ranges::find(kOperationForms, name, &OperationForm::name);
  return found == kOperationForms.end() ? nullptr : found;
}

constexpr GemmShape gemm_shape(const OperationForm& op, const Problem& p) {
  const std::int64_t width = HeadLayout{p, op.columns}.width();
  return op.kind == Kind::gemm_to_a2a ? GemmShape{p.M(), width, p.H, op.weight_transposed}
                                      : GemmShape{p.M(), p.H, width, op.weight_transposed};
}
constexpr double flop(const GemmShape& g) {
  return 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}
constexpr double flop(const OperationForm& op, const Problem& p) { return flop(gemm_shape(op, p)); }
/// All-to-all buffer of one rank in bytes (send = receive); (P-1)/P of it crosses between ranks. With KV replication
/// 2*Hk becomes 2*P.
constexpr std::int64_t exchange_bytes(const OperationForm& op, const Problem& p) {
  return p.P * p.M() * HeadLayout{p, op.columns}.slab_width() * kElementBytes;
}

/// native_chunked: chunks at most, and rows of one at least (why: ops/row_chunks.hpp).
inline constexpr std::int64_t kMostRowChunks = 4, kFewestChunkRows = 1024;
/// Rows of a chunk of M rows, before a GEMM's row step rounds them up.
constexpr std::int64_t chunk_rows(std::int64_t M) {
  return std::max((M + kMostRowChunks - 1) / kMostRowChunks, kFewestChunkRows);
}

}  // namespace megaup::core
