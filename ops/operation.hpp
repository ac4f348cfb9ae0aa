#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <megaup/core/operation.hpp>
#include <megaup/core/problem.hpp>

namespace megaup::ops {

using core::exchange_bytes;
using core::flop;
using core::gemm_shape;
using core::GemmShape;
using core::Kind;

/// A row of the table of operations.
struct Operation : core::OperationForm {
  std::string_view doc;
  int position;  ///< place in operations(): the order in which a training step meets them
};

/// Rows of the operation folders in no particular order, from a table that the linker checks.
std::span<const Operation* const> operation_rows();
/// The same by position: qkv_fwd, out_fwd, out_dgrad, qkv_dgrad.
std::span<const Operation* const> operations();
/// nullptr when there is none of that name.
const Operation* find_operation(std::string_view name);

/// Rows and columns of the weight as it is stored: Wqkv [N, H] or Wo [H, Hq*D].
struct Extent {
  std::int64_t rows, columns;
};
constexpr Extent weight_extent(const Operation& op, const core::Problem& p) {
  return op.columns == core::Columns::qkv ? Extent{p.N(), p.H} : Extent{p.H, p.Hq * p.D};
}

}  // namespace megaup::ops
