#include <megaup/ops/device_native_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_native_packed_cuda_arm;
extern constinit const Arm gemm_a2a_native_packed_ce_cuda_arm;
extern constinit const Arm gemm_a2a_native_pipelined_ce_cuda_arm;
extern constinit const Arm gemm_a2a_native_chunked_ce_cuda_arm;

namespace {

constexpr auto kKind = Kind::gemm_to_a2a;
using comm::Transport;

core::Reason without_copy_engine(const Operation&, const core::Problem& problem, const Context& context) {
  return unsound_on_device(problem, context, Transport::copy_engine);
}

std::int64_t packed_bytes(const Operation& op, const core::Problem& problem, std::string_view) {
  return device_native_bytes(op, problem, one_part());
}

}  // namespace

constinit const Arm gemm_a2a_native_packed_cuda_arm{
    .name = "native_packed",
    .doc = "cuBLASLt, one-pass pack, one exchange as the backend has it (NCCL where it can be), one-pass unpack",
    .kind = kKind,
    .place = Place::cuda,
    .bound = false,
    .infeasible = [](const Operation&, const core::Problem& problem,
                     const Context& context) { return unsound_on_device(problem, context, Transport::automatic); },
    .prepare =
        [](Operands& operands, const Context& context) {
          return prepare_device_native(operands, context, one_part(), Transport::automatic);
        },
    .workspace_bytes = packed_bytes};

constinit const Arm gemm_a2a_native_packed_ce_cuda_arm{.name = "native_packed_ce",
                                                       .doc = "native_packed with peer copies by the copy engines",
                                                       .kind = kKind,
                                                       .place = Place::cuda,
                                                       .bound = false,
                                                       .infeasible = without_copy_engine,
                                                       .prepare =
                                                           [](Operands& operands, const Context& context) {
                                                             return prepare_device_native(operands, context, one_part(),
                                                                                          Transport::copy_engine);
                                                           },
                                                       .workspace_bytes = packed_bytes};

constinit const Arm gemm_a2a_native_pipelined_ce_cuda_arm{
    .name = "native_pipelined_ce",
    .doc =
        "cuBLASLt, then an exchange by copy engines for each of Q, K and V, each packed while the one before is under "
        "way",
    .kind = kKind,
    .place = Place::cuda,
    .bound = false,
    .infeasible = without_copy_engine,
    .prepare =
        [](Operands& operands, const Context& context) {
          return prepare_device_native(operands, context, part_for_each_kind(operands.operation()),
                                       Transport::copy_engine);
        },
    .workspace_bytes = [](const Operation& op, const core::Problem& problem,
                          std::string_view) { return device_native_bytes(op, problem, part_for_each_kind(op)); }};

constinit const Arm gemm_a2a_native_chunked_ce_cuda_arm{
    .name = "native_chunked_ce",
    .doc = "the GEMM in row chunks, each exchanged by copy engines while the next is multiplied",
    .kind = kKind,
    .place = Place::cuda,
    .bound = false,
    .infeasible = without_copy_engine,
    .prepare = [](Operands& operands,
                  const Context& context) { return prepare_device_chunked(operands, context, Transport::copy_engine); },
    .workspace_bytes = [](const Operation& op, const core::Problem& problem,
                          std::string_view) { return device_chunked_bytes(op, problem); }};

}  // namespace megaup::ops
