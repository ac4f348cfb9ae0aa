#pragma once

#include <memory>
#include <string>
#include <vector>

#include <megaup/ops/arm.hpp>

/// Everything that the benchmark over the link compares for one operation.
namespace megaup::cuda_tests {

struct Variant {
  std::string name;
  std::string note;  ///< why it is timed whatever the first look says; empty where only its time decides
  bool alone;        ///< timed back to back with itself too
  std::unique_ptr<ops::PreparedOperation> operation;
};

/// Random numbers in the inputs of an operation, on the device.
void fill_inputs_on_device(const ops::Operands& operands, core::Device& device);

/// The bare GEMM.
Variant bare_gemm(ops::Operands& operands, const ops::Context& context);
/// The fused kernels: every compiled one with the orders of tiles that fit. Noted are the planner's choices, pushes by
/// plain stores and their twins, and pulls that take the shards in the same order on all ranks. Pulls of the planner's
/// choice also come with other units of what they move. Collective.
std::vector<Variant> fused_kernels(ops::Operands& operands, const ops::Context& context);
/// The native arms. Those that cannot run here are named in `refused` with the reason. Collective.
std::vector<Variant> native_arms(ops::Operands& operands, const ops::Context& context,
                                 std::vector<std::string>& refused);

}  // namespace megaup::cuda_tests
