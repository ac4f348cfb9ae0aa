#include <megaup/ops/numeric_check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include <megaup/ops/gate_tensors.hpp>
#include <megaup/ops/reference.hpp>

namespace megaup::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Row boundaries of the exchange as the output of this rank sees them: rows whose neighbour comes from or goes to
/// another run.
std::set<std::int64_t> boundary_rows(const Operands& operands) {
  const core::Problem& p = operands.problem();
  std::vector<std::int64_t> place;  // of each output row on the other side, rank by rank
  if (operands.operation().kind == Kind::gemm_to_a2a) {
    for (const reference::LocalToken& token : reference::tokens(p)) place.push_back(token.rank * p.M() + token.row);
  } else {
    place = reference::head_rows(p)[static_cast<std::size_t>(operands.rank())];
  }
  std::set<std::int64_t> rows{0, static_cast<std::int64_t>(place.size()) - 1};
  for (std::size_t i = 1; i < place.size(); ++i)
    if (place[i] != place[i - 1] + 1) rows.insert({static_cast<std::int64_t>(i) - 1, static_cast<std::int64_t>(i)});
  return rows;
}

/// Numbers of every rank from the key: nothing is exchanged.
reference::Inputs inputs_of_group(const Operands& operands, const InputKey& key) {
  const auto fill = [key](InputTensor tensor, std::int64_t rank, std::int64_t row, std::span<double> values) {
    const RandomInput random(key, tensor, rank);
    const auto columns = static_cast<std::int64_t>(values.size());
    for (std::int64_t j = 0; j < columns; ++j)
      values[static_cast<std::size_t>(j)] = static_cast<double>(random(row * columns + j).to_float());
  };
  return {.hidden = [fill](std::int64_t rank, std::int64_t m,
                           std::span<double> row) { fill(InputTensor::hidden, rank, m, row); },
          .heads =
              [fill](std::int64_t rank, int tensor, std::int64_t row, std::span<double> values) {
                fill(input_tensor(static_cast<core::Head>(tensor)), rank, row, values);
              },
          .weight =
              [w = operands.weight()](std::int64_t row, std::span<double> values) {
                for (std::size_t j = 0; j < values.size(); ++j)
                  values[j] = static_cast<double>(w.row(row)[j].to_float());
              }};
}

/// Why a matrix is no check input: a result of inputs that do not vary over an index cannot show that the index was
/// right.
std::string constant(const NamedMatrix& input) {
  const core::Bf16Matrix& m = input.matrix;
  bool over_rows = m.rows == 1, over_columns = m.columns == 1;
  for (std::int64_t i = 1; i < m.rows && !over_rows; ++i) over_rows = m.row(i)[0] != m.row(0)[0];
  for (std::int64_t j = 1; j < m.columns && !over_columns; ++j) over_columns = m.row(0)[j] != m.row(0)[0];
  if (over_rows && over_columns) return {};
  return fmt::format("constant input: {} does not vary over its {}, so the check would prove nothing", input.name,
                     over_rows ? "columns" : "rows");
}

bool not_finite(core::Bf16 value) { return (value.bits & 0x7f80) == 0x7f80; }

bool all_finite(std::span<const core::Bf16> row) {
  // No way out of the loop and no copy of an element, so that the compiler takes vectors.
  std::int16_t largest = 0;
  for (const core::Bf16& value : row) largest = std::max(largest, static_cast<std::int16_t>(value.bits & 0x7fff));
  return largest < 0x7f80;
}

std::string non_finite(const NamedMatrix& output, int threads) {
  const core::Bf16Matrix& m = output.matrix;
  const auto row = [&m](std::int64_t i) { return std::span(m.row(i), static_cast<std::size_t>(m.columns)); };
  const std::int64_t bad = first_row(m.rows, threads, [&](std::int64_t i) { return !all_finite(row(i)); });
  if (bad == m.rows) return {};
  std::int64_t count = 0;
  for (std::int64_t i = bad; i < m.rows; ++i) count += std::ranges::count_if(row(i), not_finite);
  const auto first = std::ranges::find_if(row(bad), not_finite) - row(bad).begin();
  const core::Bf16 value = m.row(bad)[first];
  return fmt::format("{}: {} elements are not finite, the first in row {} column {} (0x{:04x}{})", output.name, count,
                     bad, first, value.bits, value == kPoison ? ", never written" : "");
}

/// Errors over the checked rows, and where the largest is.
struct Errors {
  double squared = 0, expected_squared = 0, largest = 0;
  std::string where;
};

Errors measure(const std::vector<NamedMatrix>& outputs, const std::vector<std::int64_t>& rows,
               const std::vector<std::vector<double>>& expected) {
  Errors errors;
  std::int64_t count = 0;
  for (const auto& row : expected)
    for (const double value : row) {
      errors.expected_squared += value * value;
      ++count;
    }
  const double rms = std::sqrt(errors.expected_squared / static_cast<double>(count));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t column = 0;
    for (const NamedMatrix& output : outputs)
      for (std::int64_t j = 0; j < output.matrix.columns; ++j, ++column) {
        const double want = expected[i][column];
        const double got = static_cast<double>(output.matrix.row(rows[i])[j].to_float());
        const double difference = std::abs(got - want);
        errors.squared += difference * difference;
        // Infinite for a NaN, so that nothing after it counts as larger.
        const double relative = std::isfinite(difference) ? difference / std::max(std::abs(want), rms) : kInfinity;
        if (relative <= errors.largest) continue;
        errors.largest = relative;
        errors.where = fmt::format("{} row {} column {}: got {}, expected {}", output.name, rows[i], j, got, want);
      }
  }
  return errors;
}

}  // namespace

double error_bound(std::int64_t k) {
  const double round = std::ldexp(1.0, -8), add = std::ldexp(1.0, -24);
  return round + (1 + round) * 8 * static_cast<double>(k) * add;
}

std::vector<std::int64_t> rows_to_check(const Operands& operands, const InputKey& key, double limit) {
  const GemmShape shape = gemm_shape(operands.operation(), operands.problem());
  std::int64_t columns = 0;
  for (const NamedMatrix& output : output_matrices(operands, 0)) columns += output.matrix.columns;
  const std::int64_t all = output_matrices(operands, 0).front().matrix.rows;
  const double affordable = limit / (static_cast<double>(columns) * static_cast<double>(shape.k));
  std::set<std::int64_t> rows;
  if (static_cast<double>(all) <= affordable) {
    for (std::int64_t i = 0; i < all; ++i) rows.insert(i);
  } else {
    rows = boundary_rows(operands);
    const RandomInput random(key, InputTensor::hidden, operands.rank());
    for (std::int64_t draw = 0; static_cast<double>(rows.size()) < affordable && draw < all; ++draw)
      rows.insert((static_cast<std::int64_t>(random(draw).bits) * 65536 + random(draw + all).bits) % all);
  }
  return {rows.begin(), rows.end()};
}

std::vector<std::vector<double>> expected_rows(const Operands& operands, const InputKey& key,
                                               const std::vector<std::int64_t>& rows) {
  const reference::Inputs inputs = inputs_of_group(operands, key);
  const Operation& op = operands.operation();
  const int threads = operands.host_threads();
  const reference::Expected expected =
      op.kind == Kind::gemm_to_a2a ? reference::heads(op, operands.problem(), inputs, operands.rank(), rows, threads)
                                   : reference::hidden(op, operands.problem(), inputs, operands.rank(), rows, threads);
  std::vector<std::vector<double>> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = expected.row(i);
    result.emplace_back(row.begin(), row.end());
  }
  return result;
}

NumericFinding numeric_finding(const Operands& operands, int set, const std::vector<std::int64_t>& rows,
                               const std::vector<std::vector<double>>& expected) {
  NumericFinding finding;
  finding.rows_checked = static_cast<std::int64_t>(rows.size());
  for (const NamedMatrix& input : input_matrices(operands))
    if (auto why = constant(input); !why.empty() && finding.why.empty()) finding.why = why;
  const auto outputs = output_matrices(operands, set);
  for (const NamedMatrix& output : outputs)
    for (const auto& look : {non_finite, written_gap})
      if (auto why = look(output, operands.host_threads()); !why.empty() && finding.why.empty()) finding.why = why;
  const Errors errors = measure(outputs, rows, expected);
  const double bound = error_bound(gemm_shape(operands.operation(), operands.problem()).k);
  finding.error_frobenius = std::sqrt(errors.squared / errors.expected_squared);
  finding.error_max = errors.largest;
  // Written so that a NaN on either side fails.
  const bool within = finding.error_frobenius <= bound && finding.error_max <= bound;
  if (!std::isfinite(finding.error_frobenius)) finding.error_frobenius = kInfinity;
  if (!within && finding.why.empty())
    finding.why = fmt::format("error {:.3g} (Frobenius), {:.3g} (largest element) above the bound {:.3g}; {}",
                              finding.error_frobenius, finding.error_max, bound, errors.where);
  return finding;
}

}  // namespace megaup::ops
