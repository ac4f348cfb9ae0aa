#include <megaup/ops/gate.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include <megaup/ops/gate_tensors.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/ops/row_threads.hpp>
#include <megaup/ops/structure_check.hpp>

namespace megaup::ops {
namespace {

// Multiplications that one rank spends on the oracle: a fraction of a second.
constexpr double kOracleWork = 4e8;

/// Running sums of what is written into inputs.
struct Moments {
  double count = 0, zeros = 0, sum = 0, squares = 0;
};

void fill(core::Bf16Matrix matrix, const RandomInput& random, int threads, Moments& moments) {
  poison(matrix);  // gaps between rows must never be read
  std::mutex adding;
  on_row_threads(matrix.rows, threads, [&](std::int64_t first, std::int64_t last) {
    double sum = 0, squares = 0;
    std::int64_t zeros = 0;
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t j = 0; j < matrix.columns; ++j) {
        const core::Bf16 value = random(i * matrix.columns + j);
        matrix.row(i)[j] = value;
        const double x = static_cast<double>(value.to_float());
        sum += x;
        squares += x * x;
        zeros += (value.bits & 0x7fff) == 0;
      }
    const std::lock_guard lock(adding);
    moments.count += static_cast<double>((last - first) * matrix.columns);
    moments.zeros += static_cast<double>(zeros);
    moments.sum += sum;
    moments.squares += squares;
  });
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

InputStatistics fill_inputs(Operands& operands, const InputKey& key) {
  Moments moments;
  const int threads = operands.host_threads();
  fill(operands.weight(), RandomInput(key, InputTensor::weight, operands.rank()), threads, moments);
  for (const NamedMatrix& input : input_matrices(operands))
    fill(input.matrix, RandomInput(key, input.tensor, operands.rank()), threads, moments);
  operands.inputs_to_device();
  const double mean = moments.sum / moments.count;
  return {moments.zeros / moments.count, mean, std::sqrt(std::max(0.0, moments.squares / moments.count - mean * mean))};
}

Verdict check_output(const PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                     const InputKey& key) {
  const auto rows = rows_to_check(operands, key, kOracleWork);
  const auto expected = expected_rows(operands, key, rows);
  const NumericFinding mine = numeric_finding(operands, prepared.current_set(), rows, expected);
  Verdict verdict;
  verdict.why = first_complaint(group, mine.why.empty() ? mine.why : title(operands, "numeric pass", mine.why));
  verdict.error_frobenius = worst(group, mine.error_frobenius);
  verdict.error_max = worst(group, mine.error_max);
  verdict.error_bound = error_bound(gemm_shape(operands.operation(), operands.problem()).k);
  verdict.rows_checked = mine.rows_checked;
  return verdict;
}

Verdict check_arm(PreparedOperation& prepared, Operands& operands, comm::Communicator& group, const InputKey& key) {
  const std::string structure = structure_complaint(prepared, operands, group);
  fill_inputs(operands, key);
  if (!structure.empty()) return {.why = structure};
  run_poisoned(prepared, operands, group);
  return check_output(prepared, operands, group, key);
}

}  // namespace megaup::ops
