#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <megaup/ops/arm.hpp>
#include <megaup/ops/operands.hpp>

/// The gate before any timing: an arm's result is compared with the oracle, element by element (docs/operations.md says
/// what the passes prove).
namespace megaup::ops {

/// What identifies a set of inputs: any rank can compute any rank's inputs from it.
struct InputKey {
  std::uint64_t seed = 1;
  std::uint64_t launch = 0;  ///< new data for every launch with validate: every
};

/// Statistics of the inputs of one operation on this rank.
struct InputStatistics {
  double zero_fraction = 0, mean = 0, standard_deviation = 0;
};

/// Fills hidden or heads side (whichever is the input) and the weight with full-range random values, standard deviation
/// about 1. Not collective; the caller lets ranks meet before peers read.
void fill_inputs(Operands& operands, const InputKey& key);
/// Of what the inputs hold now.
InputStatistics input_statistics(const Operands& operands);

/// What the FP64 oracle says of some rows of this rank's output.
struct Expectation {
  InputKey key;                             ///< what the inputs are filled with
  std::vector<std::int64_t> rows;           ///< ascending
  std::vector<std::vector<double>> values;  ///< [row of `rows`][column], the output's tensors side by side
};

/// Asks the oracle: once for all arms of an operation, because it costs as much as many launches on a device. Requires
/// inputs filled with `key`: the weight is read from the operands. Not collective.
Expectation expected_output(const Operands& operands, const InputKey& key);

/// Verdict of the gate on one operation and arm; the same on all ranks of the group.
struct Verdict {
  std::string why;  ///< empty: passed; else pass, operation, rank, tensor, row, column, got and expected
  double error_frobenius = 0, error_max = 0, error_bound = 0;
  std::int64_t rows_checked =
      0;  ///< rows of the numeric pass that were compared with the FP64 oracle; the structure pass checks every element
  bool passed() const { return why.empty(); }
};

/// Runs the prepared operation several times: structure pass (every element, bit for bit) and numeric pass (FP64
/// oracle). Leaves the inputs filled with the key of what is expected. Collective over the group.
Verdict check_arm(PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                  const Expectation& expected);
/// The same for an arm that is checked alone: fills the inputs and asks the oracle first.
Verdict check_arm(PreparedOperation& prepared, Operands& operands, comm::Communicator& group, const InputKey& key);

/// After a run on a device: waits for it and copies its outputs to the host; throws LaunchFault on all ranks of the group.
/// Nothing to do without a device. Collective.
void fetch_outputs(PreparedOperation& prepared, Operands& operands, comm::Communicator& group);

/// The numeric pass alone on the output of the launch that just ended (validate: every). Collective.
Verdict check_output(const PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                     const Expectation& expected);

/// Damages a correct result in every known way (heads swapped, rows swapped, one exchange dropped, an element
/// overwritten, NaN, constant input) and checks it again. Returns the damages that were NOT seen: must be empty.
/// Collective.
std::vector<std::string> self_test(PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                                   const Expectation& expected);
/// The same for an arm that is tested alone: fills the inputs and asks the oracle first.
std::vector<std::string> self_test(PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                                   const InputKey& key);

}  // namespace megaup::ops
