#pragma once

#include <megaup/ops/device_native_cuda.cuh>

/// Rows of the native arms and of the bounds on a device. They are the same for both kinds of operation but for the kind
/// and the order of steps that the text tells, because what they prepare asks the operation for its kind.
namespace megaup::ops {

template <comm::Transport kTransport>
core::Reason without_exchange(const Operation&, const core::Problem& problem, const Context& context) {
  return unsound_on_device(problem, context, kTransport);
}
inline core::Reason unsound_alone(const Operation&, const core::Problem& problem, const Context& context) {
  return unsound_on_device(problem, context);
}
inline std::int64_t device_packed_bytes(const Operation& op, const core::Problem& problem, std::string_view) {
  return device_native_bytes(op, problem, one_part());
}

template <comm::Transport kTransport>
constexpr Arm device_native_packed(Kind kind, std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .kind = kind,
          .place = Place::cuda,
          .bound = false,
          .infeasible = without_exchange<kTransport>,
          .prepare =
              [](Operands& operands, const Context& context) {
                return prepare_device_native(operands, context, one_part(), kTransport);
              },
          .workspace_bytes = device_packed_bytes};
}

constexpr Arm device_native_packed_window(Kind kind) {
  return device_native_packed<comm::Transport::nccl_window>(kind, "native_packed_window",
                                                            "native_packed with NCCL between symmetric windows");
}

constexpr Arm device_native_packed_zero_cta(Kind kind) {
  return device_native_packed<comm::Transport::nccl_zero_cta>(
      kind, "native_packed_zero_cta",
      "native_packed with copy engines under NCCL (zero CTA), between symmetric windows");
}

constexpr Arm device_native_packed_ce(Kind kind) {
  return device_native_packed<comm::Transport::copy_engine>(kind, "native_packed_ce",
                                                            "native_packed with peer copies by the copy engines");
}

constexpr Arm device_native_pipelined_ce(Kind kind, std::string_view doc) {
  return {.name = "native_pipelined_ce",
          .doc = doc,
          .kind = kind,
          .place = Place::cuda,
          .bound = false,
          .infeasible = without_exchange<comm::Transport::copy_engine>,
          .prepare =
              [](Operands& operands, const Context& context) {
                return prepare_device_native(operands, context, part_for_each_kind(operands.operation()),
                                             comm::Transport::copy_engine);
              },
          .workspace_bytes = [](const Operation& op, const core::Problem& problem,
                                std::string_view) { return device_native_bytes(op, problem, part_for_each_kind(op)); }};
}

constexpr Arm device_native_chunked_ce(Kind kind, std::string_view doc) {
  return {.name = "native_chunked_ce",
          .doc = doc,
          .kind = kind,
          .place = Place::cuda,
          .bound = false,
          .infeasible = without_exchange<comm::Transport::copy_engine>,
          .prepare =
              [](Operands& operands, const Context& context) {
                return prepare_device_chunked(operands, context, comm::Transport::copy_engine);
              },
          .workspace_bytes = [](const Operation& op, const core::Problem& problem,
                                std::string_view) { return device_chunked_bytes(op, problem); }};
}

constexpr Arm device_gemm_only(Kind kind, std::string_view doc) {
  return {.name = "gemm_only",
          .doc = doc,
          .kind = kind,
          .place = Place::cuda,
          .bound = true,
          .infeasible = unsound_alone,
          .prepare = prepare_device_gemm_only,
          .workspace_bytes = [](const Operation& op, const core::Problem& problem, std::string_view) {
            return device_gemm_only_bytes(op, problem);
          }};
}

constexpr Arm device_exchange_only(Kind kind) {
  return {.name = "exchange_only",
          .doc = "one packed exchange of the operation's bytes, as the backend has it, nothing else",
          .kind = kind,
          .place = Place::cuda,
          .bound = true,
          .infeasible = without_exchange<comm::Transport::automatic>,
          .prepare = prepare_device_exchange_only,
          .workspace_bytes = [](const Operation& op, const core::Problem& problem, std::string_view) {
            return device_exchange_only_bytes(op, problem);
          }};
}

constexpr Arm device_reorder_only(Kind kind) {
  return {.name = "reorder_only",
          .doc = "pack and unpack of native_packed, nothing else",
          .kind = kind,
          .place = Place::cuda,
          .bound = true,
          .infeasible = unsound_alone,
          .prepare = prepare_device_reorder_only,
          .workspace_bytes = [](const Operation& op, const core::Problem& problem, std::string_view) {
            return device_reorder_only_bytes(op, problem);
          }};
}

}  // namespace megaup::ops
