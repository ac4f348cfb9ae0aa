#include <megaup/ops/structure_check.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <megaup/ops/reference.hpp>

namespace megaup::ops {
namespace {

using core::Bf16;

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

std::int64_t digit(std::int64_t index, std::int64_t base, std::int64_t which) {
  return index / power(base, which) % base;
}

/// Digits that tell `count` indices apart.
std::int64_t digits(std::int64_t count, std::int64_t base) {
  std::int64_t n = 1;
  for (std::int64_t reach = base; reach < count; reach *= base) ++n;
  return n;
}

std::int64_t wide_columns(const Operation& op, const core::Problem& p) {
  return static_cast<std::int64_t>(reference::head_columns(op, p).size());
}

/// Columns of A that carry codes: A is hidden [M, H] (gemm_to_a2a), where no more columns are used than there are
/// codes.
std::int64_t coded_hidden(const core::Problem& p) { return std::min(p.H, kCodes); }

/// Column of A that column `j` of C picks.
std::int64_t picked(const Operation& op, const core::Problem& p, const StructurePass& pass, std::int64_t j,
                    std::int64_t k) {
  if (op.kind == Kind::gemm_to_a2a) return pass.tokens ? j % k : digit(j, coded_hidden(p), pass.digit);
  return (pass.map * p.H + j) % k;
}

void fill_weight(Operands& operands, const StructurePass& pass) {
  const GemmShape shape = gemm_shape(operands.operation(), operands.problem());
  const core::Bf16Matrix w = operands.weight();
  const Bf16 one = Bf16::from_float(1);
  write_rows(w, operands.host_threads(), [](std::int64_t, std::span<Bf16> row) { std::ranges::fill(row, Bf16{0}); });
  for (std::int64_t j = 0; j < shape.n; ++j) {
    const std::int64_t k = picked(operands.operation(), operands.problem(), pass, j, shape.k);
    (shape.weight_transposed ? w.row(j)[k] : w.row(k)[j]) = one;
  }
}

int tensor_index(const NamedMatrix& heads) {
  return static_cast<int>(heads.tensor) - static_cast<int>(InputTensor::query);
}

/// Code of token number `index`.
Bf16 token_code(std::int64_t index, const StructurePass& pass) { return code(digit(index, kCodes, pass.digit)); }

void fill_hidden(Operands& operands, const StructurePass& pass) {
  const core::Bf16Matrix x = operands.hidden();
  std::vector<Bf16> codes(static_cast<std::size_t>(x.columns));
  for (std::int64_t k = 0; k < x.columns; ++k) codes[static_cast<std::size_t>(k)] = code(k % kCodes);
  write_rows(x, operands.host_threads(), [&](std::int64_t m, std::span<Bf16> row) {
    if (pass.tokens)
      std::ranges::fill(row, token_code(operands.rank() * x.rows + m, pass));
    else
      std::ranges::copy(codes, row.begin());
  });
}

void fill_heads(Operands& operands, const StructurePass& pass) {
  const auto homes = reference::head_columns(operands.operation(), operands.problem());
  for (const NamedMatrix& input : input_matrices(operands)) {
    std::vector<Bf16> codes(static_cast<std::size_t>(input.matrix.columns));
    std::vector<std::size_t> silent;  // zeros, so that the sum over the copies of a replicated head is exact
    for (std::size_t n = 0; n < homes.size(); ++n) {
      const reference::HeadColumn& home = homes[n];
      const std::int64_t copy = operands.rank() - home.first_rank;
      if (home.tensor != tensor_index(input) || copy < 0 || copy >= home.copies) continue;
      const auto column = static_cast<std::size_t>(home.column);
      codes[column] = code(digit(static_cast<std::int64_t>(n), kCodes, pass.digit));
      if (home.copies > 1 && copy != pass.replica) silent.push_back(column);
    }
    write_rows(input.matrix, operands.host_threads(), [&](std::int64_t i, std::span<Bf16> row) {
      if (pass.tokens)
        std::ranges::fill(row, token_code(i, pass));
      else
        std::ranges::copy(codes, row.begin());
      for (const std::size_t column : silent) row[column] = Bf16{0};
    });
  }
}

/// What each row (token pass) or column (column pass) of an output must show.
struct ExpectedCodes {
  std::vector<Bf16> rows, columns;
  std::string difference(const NamedMatrix& output, bool tokens, int threads) const;
};

std::string in_words(Bf16 value) {
  const std::int64_t exponent = value.bits >> 7 & 0xff;
  if (value == kPoison) return "nothing was written";
  if (exponent == 0 || exponent == 255) return fmt::format("0x{:04x}", value.bits);
  return fmt::format("0x{:04x}, the code of index {}", value.bits,
                     (value.bits >> 15) * (kCodes / 2) + (exponent - 1) * 128 + value.bits % 128);
}

/// Whether all elements have that value: the first has it, and each is what the next one is. Requires an element.
bool all_are(std::span<const Bf16> row, Bf16 value) {
  return row.front() == value && std::memcmp(row.data(), row.data() + 1, row.size_bytes() - sizeof(Bf16)) == 0;
}

std::string ExpectedCodes::difference(const NamedMatrix& output, bool tokens, int threads) const {
  const core::Bf16Matrix& m = output.matrix;
  const auto row = [&m](std::int64_t i) { return std::span(m.row(i), static_cast<std::size_t>(m.columns)); };
  const std::int64_t i = first_row(m.rows, threads, [&](std::int64_t at) {
    if (tokens) return !all_are(row(at), rows[static_cast<std::size_t>(at)]);
    return std::memcmp(m.row(at), columns.data(), row(at).size_bytes()) != 0;
  });
  if (i == m.rows) return written_gap(output, threads);
  const auto expected = [&](std::size_t j) { return tokens ? rows[static_cast<std::size_t>(i)] : columns[j]; };
  std::size_t j = 0;
  while (row(i)[j] == expected(j)) ++j;
  return fmt::format("{} row {} column {}: got {}, expected {}", output.name, i, j, in_words(row(i)[j]),
                     in_words(expected(j)));
}

std::string heads_difference(const Operands& operands, int set, const StructurePass& pass) {
  const core::Problem& p = operands.problem();
  ExpectedCodes expected;
  for (const reference::LocalToken& token : reference::tokens(p))
    expected.rows.push_back(token_code(token.rank * p.M() + token.row, pass));
  const auto homes = reference::head_columns(operands.operation(), p);
  const int rank = operands.rank();
  for (const NamedMatrix& output : output_matrices(operands, set)) {
    expected.columns.assign(static_cast<std::size_t>(output.matrix.columns), Bf16{});
    for (std::size_t n = 0; n < homes.size(); ++n)
      if (homes[n].tensor == tensor_index(output) && rank >= homes[n].first_rank &&
          rank < homes[n].first_rank + homes[n].copies)
        expected.columns[static_cast<std::size_t>(homes[n].column)] =
            code(picked(operands.operation(), p, pass, static_cast<std::int64_t>(n), p.H));
    if (auto why = expected.difference(output, pass.tokens, operands.host_threads()); !why.empty()) return why;
  }
  return {};
}

std::string hidden_difference(const Operands& operands, const StructurePass& pass) {
  const core::Problem& p = operands.problem();
  const std::int64_t k = wide_columns(operands.operation(), p);
  ExpectedCodes expected;
  const auto rows = reference::head_rows(p);
  for (const std::int64_t row : rows[static_cast<std::size_t>(operands.rank())])
    expected.rows.push_back(token_code(row, pass));
  for (std::int64_t j = 0; j < p.H; ++j)
    expected.columns.push_back(code(digit(picked(operands.operation(), p, pass, j, k), kCodes, pass.digit)));
  return expected.difference(output_matrices(operands, 0).front(), pass.tokens, operands.host_threads());
}

}  // namespace

std::vector<StructurePass> structure_passes(const Operation& op, const core::Problem& p) {
  std::vector<StructurePass> passes;
  const std::int64_t W = wide_columns(op, p);
  const std::int64_t token_digits = digits(p.P * p.M(), kCodes);
  if (op.kind == Kind::gemm_to_a2a) {
    for (std::int64_t d = 0; d < token_digits; ++d) passes.push_back({true, d, 0, 0});
    // A hidden side of one column has nothing to tell the columns apart by: the numeric pass does it there.
    const std::int64_t column_digits = p.H == 1 ? 0 : digits(W, coded_hidden(p));
    for (std::int64_t d = 0; d < column_digits; ++d) passes.push_back({false, d, 0, 0});
    return passes;
  }
  const std::int64_t copies = op.columns == core::Columns::qkv && p.Hk < p.P ? p.P / p.Hk : 1;
  for (std::int64_t replica = 0; replica < copies; ++replica)
    for (std::int64_t map = 0; map * p.H < W; ++map) {
      for (std::int64_t d = 0; d < token_digits; ++d) passes.push_back({true, d, map, replica});
      for (std::int64_t d = 0; d < digits(W, kCodes); ++d) passes.push_back({false, d, map, replica});
    }
  return passes;
}

void fill_structure(Operands& operands, const StructurePass& pass) {
  fill_weight(operands, pass);
  if (operands.operation().kind == Kind::gemm_to_a2a)
    fill_hidden(operands, pass);
  else
    fill_heads(operands, pass);
  operands.inputs_to_device();
}

std::string structure_difference(const Operands& operands, int set, const StructurePass& pass) {
  if (operands.operation().kind == Kind::gemm_to_a2a) return heads_difference(operands, set, pass);
  return hidden_difference(operands, pass);
}

}  // namespace megaup::ops
