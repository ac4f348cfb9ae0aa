#pragma once

#include <megaup/ops/arm_parts.hpp>

/// Bounds that both kinds of operation share.
namespace megaup::ops {

/// exchange_only: the one packed exchange of native_packed, with the bytes of the operation and nothing around it.
std::unique_ptr<PreparedOperation> prepare_exchange_only(Operands& operands, const Context& context);
std::int64_t exchange_only_bytes(const Operation& op, const core::Problem& problem, std::string_view gemm_provider);

}  // namespace megaup::ops
