#include <megaup/ops/gate_tensors.hpp>

#include <megaup/ops/gate.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace megaup::ops {
namespace {

/// Waits for the launches that were enqueued on the devices.
void settle(PreparedOperation& prepared, comm::Communicator& group) {
  if (group.device() == nullptr) return;
  std::string mine;
  try {
    group.device()->synchronize();
    mine = prepared.fault().value_or("");
  } catch (const core::Error& error) {
    mine = error.what();
  }
  const auto faults = group.all_gather(std::string_view(mine));
  for (std::size_t rank = 0; rank < faults.size(); ++rank)
    if (!faults[rank].empty()) throw LaunchFault(core::ErrorKind::cell, faults[rank], static_cast<int>(rank));
}

}  // namespace

std::vector<NamedMatrix> head_matrices(const Operands& operands, int set) {
  static constexpr std::array<std::string_view, core::kHeadKinds> kNames{"Q", "K", "V"};
  std::vector<NamedMatrix> result;
  const HeadTensors heads = operands.heads(set);
  for (int kind = 0; kind < core::kHeadKinds; ++kind) {
    const core::Bf16Matrix matrix = heads[static_cast<core::Head>(kind)];
    if (matrix.columns > 0)
      result.push_back({kNames[static_cast<std::size_t>(kind)], input_tensor(static_cast<core::Head>(kind)), matrix});
  }
  return result;
}

std::vector<NamedMatrix> input_matrices(const Operands& operands) {
  if (operands.operation().kind == Kind::a2a_to_gemm) return head_matrices(operands, 0);
  return {{"hidden", InputTensor::hidden, operands.hidden()}};
}

std::vector<NamedMatrix> output_matrices(const Operands& operands, int set) {
  if (operands.operation().kind == Kind::gemm_to_a2a) return head_matrices(operands, set);
  return {{"hidden", InputTensor::hidden, operands.hidden()}};
}

void poison(core::Bf16Matrix matrix, int threads) {
  on_row_threads(matrix.rows, threads, [&](std::int64_t first, std::int64_t last) {
    std::fill(matrix.row(first), matrix.row(last), kPoison);
  });
}

void fill_random(const core::Bf16Matrix& matrix, const RandomInput& random, int threads) {
  write_rows(matrix, threads, [&](std::int64_t i, std::span<core::Bf16> row) {
    std::int64_t index = i * matrix.columns;
    for (core::Bf16& element : row) element = random(index++);
  });
}

void poison_all(PreparedOperation& prepared, Operands& operands) {
  const int sets = operands.on_device() ? 0 : operands.head_sets();
  for (int set = 0; set < sets; ++set)
    for (const NamedMatrix& output : output_matrices(operands, set)) poison(output.matrix, operands.host_threads());
  if (operands.on_device()) operands.poison_device_outputs();  // the host's are overwritten by what comes back
  prepared.poison();
}

void fetch_outputs(PreparedOperation& prepared, Operands& operands, comm::Communicator& group) {
  if (group.device() == nullptr) return;
  settle(prepared, group);
  operands.outputs_from_device(prepared.current_set());
}

void run_poisoned(PreparedOperation& prepared, Operands& operands, comm::Communicator& group) {
  poison_all(prepared, operands);
  group.barrier();  // an early peer must not store into tensors that are still being poisoned
  prepared.run();
  fetch_outputs(prepared, operands, group);
  group.barrier();
}

std::string written_gap(const NamedMatrix& output, int threads) {
  const core::Bf16Matrix& m = output.matrix;
  if (m.ld == m.columns) return {};
  const auto written = [&m](std::int64_t i) {
    return std::find_if(m.row(i) + m.columns, m.row(i) + m.ld, [](core::Bf16 value) { return value != kPoison; });
  };
  const std::int64_t i =
      first_row(m.rows, threads, [&](std::int64_t row) { return written(row) != m.row(row) + m.ld; });
  if (i == m.rows) return {};
  return fmt::format("{} row {}: element {} lies beyond its {} columns and was written (0x{:04x})", output.name, i,
                     written(i) - m.row(i), m.columns, written(i)->bits);
}

}  // namespace megaup::ops
