#pragma once

#include <megaup/ops/staged_exchange.hpp>

/// What native_packed and native_pipelined share: the same GEMM and wide matrix, and exchanges that differ in their
/// parts.
namespace megaup::ops::a2a_gemm {

core::Reason native_infeasible(const Operation& op, const core::Problem& problem, const Context& context);
std::unique_ptr<PreparedOperation> prepare_native(Operands& operands, const Context& context,
                                                  const std::vector<OnlyKind>& parts);
std::int64_t native_bytes(const Operation& op, const core::Problem& problem, std::string_view gemm_provider);

}  // namespace megaup::ops::a2a_gemm
