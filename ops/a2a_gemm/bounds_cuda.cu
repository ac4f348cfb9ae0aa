#include <megaup/ops/device_native_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_gemm_only_cuda_arm;
extern constinit const Arm a2a_gemm_exchange_only_cuda_arm;
extern constinit const Arm a2a_gemm_reorder_only_cuda_arm;

namespace {

constexpr auto kKind = Kind::a2a_to_gemm;

core::Reason infeasible(const Operation&, const core::Problem& problem, const Context& context) {
  return unsound_on_device(problem, context);
}

}  // namespace

constinit const Arm a2a_gemm_gemm_only_cuda_arm{
    .name = "gemm_only",
    .doc = "the GEMM by cuBLASLt from a wide matrix, nothing else",
    .kind = kKind,
    .place = Place::cuda,
    .bound = true,
    .infeasible = infeasible,
    .prepare = prepare_device_gemm_only,
    .workspace_bytes = [](const Operation& op, const core::Problem& problem, std::string_view) {
      return device_gemm_only_bytes(op, problem);
    }};

constinit const Arm a2a_gemm_exchange_only_cuda_arm{
    .name = "exchange_only",
    .doc = "one packed exchange of the operation's bytes, as the backend has it, nothing else",
    .kind = kKind,
    .place = Place::cuda,
    .bound = true,
    .infeasible =
        [](const Operation&, const core::Problem& problem, const Context& context) {
          return unsound_on_device(problem, context, comm::Transport::automatic);
        },
    .prepare = prepare_device_exchange_only,
    .workspace_bytes = [](const Operation& op, const core::Problem& problem,
                          std::string_view) { return device_exchange_only_bytes(op, problem); }};

constinit const Arm a2a_gemm_reorder_only_cuda_arm{
    .name = "reorder_only",
    .doc = "pack and unpack of native_packed, nothing else",
    .kind = kKind,
    .place = Place::cuda,
    .bound = true,
    .infeasible = infeasible,
    .prepare = prepare_device_reorder_only,
    .workspace_bytes = [](const Operation& op, const core::Problem& problem, std::string_view) {
      return device_reorder_only_bytes(op, problem);
    }};

}  // namespace megaup::ops
