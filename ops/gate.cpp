#include <megaup/ops/gate.hpp>

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include <megaup/ops/gate_tensors.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/ops/row_threads.hpp>
#include <megaup/ops/structure_check.hpp>

namespace megaup::ops {
namespace {

// Multiplications that one rank spends on the oracle: a fraction of a second on one core.
constexpr double kOracleWork = 4e8;

/// Sums over what inputs hold.
struct Moments {
  double count = 0, zeros = 0, sum = 0, squares = 0;
  Moments& operator+=(const Moments& other) {
    count += other.count;
    zeros += other.zeros;
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

Moments moments(std::span<const core::Bf16> row) {
  Moments all{.count = static_cast<double>(row.size())};
  for (const core::Bf16 value : row) {
    const double x = static_cast<double>(value.to_float());
    all.sum += x;
    all.squares += x * x;
    all.zeros += (value.bits & 0x7fff) == 0 ? 1 : 0;
  }
  return all;
}

Moments moments(const core::Bf16Matrix& matrix, int threads) {
  std::vector<Moments> of_row(static_cast<std::size_t>(matrix.rows));  // added in their order, however many threads
  on_row_threads(matrix.rows, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      of_row[static_cast<std::size_t>(i)] = moments({matrix.row(i), static_cast<std::size_t>(matrix.columns)});
  });
  Moments all;
  for (const Moments& row : of_row) all += row;
  return all;
}

std::string title(const Operands& operands, std::string_view pass, std::string_view why) {
  return fmt::format("{} on rank {}, {}: {}", operands.operation().name, operands.rank(), pass, why);
}

/// The first rank's complaint, the same on all ranks; empty if none has one.
std::string first_complaint(comm::Communicator& group, const std::string& mine) {
  for (const std::string& why : group.all_gather(std::string_view(mine)))
    if (!why.empty()) return why;
  return {};
}

double worst(comm::Communicator& group, double mine) { return std::ranges::max(group.all_gather(mine)); }

std::string structure_complaint(PreparedOperation& prepared, Operands& operands, comm::Communicator& group) {
  for (const StructurePass& pass : structure_passes(operands.operation(), operands.problem())) {
    fill_structure(operands, pass);
    run_poisoned(prepared, operands, group);
    std::string why = structure_difference(operands, prepared.current_set(), pass);
    if (!why.empty())
      why = title(operands, pass.tokens ? "structure pass of tokens" : "structure pass of columns", why);
    if (why = first_complaint(group, why); !why.empty()) return why;
  }
  return {};
}

}  // namespace

void fill_inputs(Operands& operands, const InputKey& key) {
  const int threads = operands.host_threads();
  fill_random(operands.weight(), RandomInput(key, InputTensor::weight, operands.rank()), threads);
  for (const NamedMatrix& input : input_matrices(operands))
    fill_random(input.matrix, RandomInput(key, input.tensor, operands.rank()), threads);
  operands.inputs_to_device();
}

InputStatistics input_statistics(const Operands& operands) {
  Moments all = moments(operands.weight(), operands.host_threads());
  for (const NamedMatrix& input : input_matrices(operands)) all += moments(input.matrix, operands.host_threads());
  const double mean = all.sum / all.count;
  return {all.zeros / all.count, mean, std::sqrt(std::max(0.0, all.squares / all.count - mean * mean))};
}

Expectation expected_output(const Operands& operands, const InputKey& key) {
  Expectation expected{key, rows_to_check(operands, key, kOracleWork), {}};
  expected.values = expected_rows(operands, key, expected.rows);
  return expected;
}

Verdict check_output(const PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                     const Expectation& expected) {
  const NumericFinding mine = numeric_finding(operands, prepared.current_set(), expected.rows, expected.values);
  Verdict verdict;
  verdict.why = first_complaint(group, mine.why.empty() ? mine.why : title(operands, "numeric pass", mine.why));
  verdict.error_frobenius = worst(group, mine.error_frobenius);
  verdict.error_max = worst(group, mine.error_max);
  verdict.error_bound = error_bound(gemm_shape(operands.operation(), operands.problem()).k);
  verdict.rows_checked = mine.rows_checked;
  return verdict;
}

Verdict check_arm(PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                  const Expectation& expected) {
  const std::string structure = structure_complaint(prepared, operands, group);
  fill_inputs(operands, expected.key);
  if (!structure.empty()) return {.why = structure};
  run_poisoned(prepared, operands, group);
  return check_output(prepared, operands, group, expected);
}

Verdict check_arm(PreparedOperation& prepared, Operands& operands, comm::Communicator& group, const InputKey& key) {
  fill_inputs(operands, key);
  return check_arm(prepared, operands, group, expected_output(operands, key));
}

std::vector<std::string> self_test(PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                                   const InputKey& key) {
  fill_inputs(operands, key);
  return self_test(prepared, operands, group, expected_output(operands, key));
}

}  // namespace megaup::ops
