#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <megaup/ops/gate.hpp>

/// The numeric half of the gate: a result of random inputs against the FP64 oracle, and the error bound that it is
/// judged by.
namespace megaup::ops {

/// Bound on both errors of a GEMM of depth k with FP32 accumulation and one rounding to BF16: 2^-8 + (1 + 2^-8) * 8 * k
/// * 2^-24. docs/operations.md derives it: the stored result is rounded by at most 2^-8 of itself, and each of k
/// additions by at most 2^-24 of a partial sum, which for independent inputs of mean 0 stays below 8 times the root
/// mean square of the result.
double error_bound(std::int64_t k);

/// What one rank found. Errors are infinite if an element that must be finite is not.
struct NumericFinding {
  std::string why;             ///< empty: passed
  double error_frobenius = 0;  ///< sqrt(sum (got - expected)^2 / sum expected^2) over the checked rows
  double error_max = 0;        ///< largest |got - expected| / max(|expected|, root mean square of expected)
  std::int64_t rows_checked = 0;
};

/// Rows of the output that the oracle is asked for: all if the work stays below `limit` multiplications, else the first
/// and last row of every run of rows that stay together in the exchange (so of every source rank), and others at random
/// (by key) up to the limit.
std::vector<std::int64_t> rows_to_check(const Operands& operands, const InputKey& key, double limit);

/// Oracle values of those rows for inputs filled with `key` on every rank.
std::vector<std::vector<double>> expected_rows(const Operands& operands, const InputKey& key,
                                               const std::vector<std::int64_t>& rows);

/// Judges what a launch wrote into `set`: refuses inputs that do not vary; every element of every row must be finite
/// and written, gaps untouched; checked rows within the bound. Not collective.
NumericFinding numeric_finding(const Operands& operands, int set, const std::vector<std::int64_t>& rows,
                               const std::vector<std::vector<double>>& expected);

}  // namespace megaup::ops
