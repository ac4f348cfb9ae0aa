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

/// A row of the table; kBytes is its workspace, which no GEMM provider changes on a device.
template <std::int64_t (*kBytes)(const Operation&, const core::Problem&)>
constexpr Arm device_row(Kind kind, std::string_view name, std::string_view doc, decltype(Arm::infeasible) infeasible,
                         decltype(Arm::prepare) prepare, bool bound = false) {
  return {.name = name,
          .doc = doc,
          .kind = kind,
          .place = Place::cuda,
          .bound = bound,
          .infeasible = infeasible,
          .prepare = prepare,
          .workspace_bytes = [](const Operation& op, const core::Problem& problem, std::string_view) {
            return kBytes(op, problem);
          }};
}

// --- separate steps --------------------------------------------------------------------------------------------------

inline std::int64_t device_packed_bytes(const Operation& op, const core::Problem& problem) {
  return device_native_bytes(op, problem, one_part());
}
inline std::int64_t device_pipelined_bytes(const Operation& op, const core::Problem& problem) {
  return device_native_bytes(op, problem, part_for_each_kind(op));
}

template <comm::Transport kTransport>
constexpr Arm device_native_packed(Kind kind, std::string_view name, std::string_view doc) {
  return device_row<device_packed_bytes>(kind, name, doc, without_exchange<kTransport>,
                                         [](Operands& operands, const Context& context) {
                                           return prepare_device_native(operands, context, one_part(), kTransport);
                                         });
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
  return device_row<device_pipelined_bytes>(
      kind, "native_pipelined_ce", doc, without_exchange<comm::Transport::copy_engine>,
      [](Operands& operands, const Context& context) {
        return prepare_device_native(operands, context, part_for_each_kind(operands.operation()),
                                     comm::Transport::copy_engine);
      });
}

constexpr Arm device_native_chunked_ce(Kind kind, std::string_view doc) {
  return device_row<device_chunked_bytes>(
      kind, "native_chunked_ce", doc, without_exchange<comm::Transport::copy_engine>,
      [](Operands& operands, const Context& context) {
        return prepare_device_chunked(operands, context, comm::Transport::copy_engine);
      });
}

// --- bounds ----------------------------------------------------------------------------------------------------------

constexpr Arm device_gemm_only(Kind kind, std::string_view doc) {
  return device_row<device_gemm_only_bytes>(kind, "gemm_only", doc, unsound_alone, prepare_device_gemm_only, true);
}

constexpr Arm device_exchange_only(Kind kind) {
  return device_row<device_exchange_only_bytes>(
      kind, "exchange_only", "one packed exchange of the operation's bytes, as the backend has it, nothing else",
      without_exchange<comm::Transport::automatic>, prepare_device_exchange_only, true);
}

constexpr Arm device_reorder_only(Kind kind) {
  return device_row<device_reorder_only_bytes>(kind, "reorder_only", "pack and unpack of native_packed, nothing else",
                                               unsound_alone, prepare_device_reorder_only, true);
}

}  // namespace megaup::ops
