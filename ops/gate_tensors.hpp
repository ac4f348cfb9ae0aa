#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <megaup/ops/arm.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/random_input.hpp>
#include <megaup/ops/row_threads.hpp>

/// The tensors of an operation as the gate walks over them.
namespace megaup::ops {

struct NamedMatrix {
  std::string_view name;  ///< hidden, weight, Q, K, V
  InputTensor tensor;
  core::Bf16Matrix matrix;
};

/// Heads that exist, of one set: Q, or Q, K and V.
std::vector<NamedMatrix> head_matrices(const Operands& operands, int set);
/// The activations that the operation reads, without the weight.
std::vector<NamedMatrix> input_matrices(const Operands& operands);
/// What a launch that used `set` wrote.
std::vector<NamedMatrix> output_matrices(const Operands& operands, int set);

/// 0xFFFF: a NaN that no operation produces from finite inputs.
constexpr core::Bf16 kPoison{0xffff};

/// Poisons a matrix with the gaps between its rows.
void poison(core::Bf16Matrix matrix, int threads = 1);

/// Calls write(row number, elements of the row) for all rows, on so many threads, and poisons the gaps behind them: they
/// must never be read.
template <class Write>
void write_rows(const core::Bf16Matrix& matrix, int threads, const Write& write) {
  on_row_threads(matrix.rows, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      write(i, std::span(matrix.row(i), static_cast<std::size_t>(matrix.columns)));
      std::fill(matrix.row(i) + matrix.columns, matrix.row(i) + matrix.ld, kPoison);
    }
  });
}
/// Element (i, j) becomes number i * columns + j of the stream.
void fill_random(const core::Bf16Matrix& matrix, const RandomInput& random, int threads);

/// Poisons every output of the operands (all sets), and the staging of the arm. Ranks: collective.
void poison_all(PreparedOperation& prepared, Operands& operands);
/// Poisons, lets the ranks meet, runs, and lets them meet again: afterwards no rank writes to another's tensors. Ranks:
/// collective.
void run_poisoned(PreparedOperation& prepared, Operands& operands, comm::Communicator& group);

/// The first element between two rows that is no longer poison, in words; empty if there is none.
std::string written_gap(const NamedMatrix& output, int threads);

}  // namespace megaup::ops
