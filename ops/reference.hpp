#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <megaup/core/problem.hpp>
#include <megaup/ops/operation.hpp>

/// The oracle: what each operation is, as plain loops over the whole group in FP64, straight from the formulas of
/// docs/operations.md. It shares no index arithmetic and no kernel with what it judges, and is never made fast: more
/// threads take more of the columns, that is all.
namespace megaup::ops::reference {

/// The heads side of one rank has three tensors: 0 = Q, 1 = K, 2 = V.
constexpr int kTensors = 3;

/// Where a token is on the hidden side.
struct LocalToken {
  std::int64_t rank, row;
  friend bool operator==(const LocalToken&, const LocalToken&) = default;
};

/// Where a column of the wide matrix is on the heads side. With KV replication a K or V column is on several ranks:
/// first_rank and up.
struct HeadColumn {
  int tensor;
  std::int64_t first_rank, copies, column;
  friend bool operator==(const HeadColumn&, const HeadColumn&) = default;
};

/// Columns of tensor `tensor` on each rank; 0 where the operation does not move it.
std::int64_t tensor_columns(const Operation& op, const core::Problem& p, int tensor);

/// For every row of the heads side, the token that it is (natural order; the same for every tensor and rank).
std::vector<LocalToken> tokens(const core::Problem& p);
/// For every rank and local row m, its row on the heads side: [rank][m].
std::vector<std::vector<std::int64_t>> head_rows(const core::Problem& p);
/// For every column of the wide matrix, its place on the heads side.
std::vector<HeadColumn> head_columns(const Operation& op, const core::Problem& p);

/// Inputs of the whole group as numbers. Each call fills one row. Threads call `weight` at the same time.
struct Inputs {
  std::function<void(std::int64_t rank, std::int64_t m, std::span<double> row)> hidden;  // [H]
  std::function<void(std::int64_t rank, int tensor, std::int64_t row, std::span<double> values)>
      heads;                                                               // [tensor_columns]
  std::function<void(std::int64_t row, std::span<double> values)> weight;  // as stored
};

/// Expected values, row by row in the order asked for.
struct Expected {
  std::int64_t columns = 0;
  std::vector<double> values;  // [rows asked for][columns]
  std::span<const double> row(std::size_t i) const {
    return std::span(values).subspan(i * static_cast<std::size_t>(columns), static_cast<std::size_t>(columns));
  }
};

/// gemm_to_a2a: rows `rows` of all tensors of rank `rank`, the tensors side by side: Q, then K, then V.
/// T[row, j] = sum over h of hidden_r[m, h] * B[h, n], (r, m) = token of the row, n = the wide column that lives at
/// (tensor, j) of the rank.
Expected heads(const Operation& op, const core::Problem& p, const Inputs& inputs, std::int64_t rank,
               std::span<const std::int64_t> rows, int threads = 1);

/// a2a_to_gemm: rows `rows` of the hidden side of rank `rank`.
/// C[m, h] = sum over n of A[m, n] * B[n, h]; A[m, n] is the element of the rank that has column n at the token's row,
/// and for a replicated KV head the sum over its ranks in rank order in FP32, rounded once to BF16.
Expected hidden(const Operation& op, const core::Problem& p, const Inputs& inputs, std::int64_t rank,
                std::span<const std::int64_t> rows, int threads = 1);

/// Nearest BF16 value, ties to even, for numbers in BF16's normal range or zero.
double rounded_to_bf16(double value);

}  // namespace megaup::ops::reference
