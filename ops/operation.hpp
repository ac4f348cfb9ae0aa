#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <megaup/core/layout.hpp>
#include <megaup/core/problem.hpp>

namespace megaup::ops {

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

/// A row of the table of operations.
struct Operation {
  std::string_view name, doc;
  Kind kind;
  core::Columns columns;   ///< heads that are moved: qkv (Q, K and V) or query (Q alone)
  bool weight_transposed;  ///< forward
  int position;            ///< place in operations(): the order in which a training step meets them
};

/// Rows of the operation folders in no particular order, from a table that the linker checks.
std::span<const Operation* const> operation_rows();
/// The same by position: qkv_fwd, out_fwd, out_dgrad, qkv_dgrad.
std::span<const Operation* const> operations();
/// nullptr when there is none of that name.
const Operation* find_operation(std::string_view name);

constexpr GemmShape gemm_shape(const Operation& op, const core::Problem& p) {
  const std::int64_t width = core::HeadLayout{p, op.columns}.width();
  return op.kind == Kind::gemm_to_a2a ? GemmShape{p.M(), width, p.H, op.weight_transposed}
                                      : GemmShape{p.M(), p.H, width, op.weight_transposed};
}
/// Rows and columns of the weight as it is stored: Wqkv [N, H] or Wo [H, Hq*D].
struct Extent {
  std::int64_t rows, columns;
};
constexpr Extent weight_extent(const Operation& op, const core::Problem& p) {
  return op.columns == core::Columns::qkv ? Extent{p.N(), p.H} : Extent{p.H, p.Hq * p.D};
}
constexpr double flop(const Operation& op, const core::Problem& p) {
  const GemmShape g = gemm_shape(op, p);
  return 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}
/// All-to-all buffer of one rank in bytes (send = receive); (P-1)/P of it crosses between ranks. With KV replication
/// 2*Hk becomes 2*P.
constexpr std::int64_t exchange_bytes(const Operation& op, const core::Problem& p) {
  return p.P * p.M() * core::HeadLayout{p, op.columns}.slab_width() * core::kElementBytes;
}

}  // namespace megaup::ops
