#include <link_variants_cuda.cuh>

#include <algorithm>

#include <megaup/ops/a2a_gemm/fused_cuda.cuh>
#include <megaup/ops/device_parts_cuda.cuh>
#include <megaup/ops/gemm_a2a/fused_cuda.cuh>

namespace megaup::cuda_tests {
namespace {

template <class Compiled>
const Compiled* compiled(std::span<const Compiled* const> rows, std::string_view name, bool weight_transposed) {
  for (const Compiled* row : rows)
    if (row->name == name && row->weight_transposed == weight_transposed) return row;
  return nullptr;
}

ops::DeviceSetting setting(const ops::Context& context, ops::Regime regime) {
  ops::DeviceSetting device = ops::fused_setting(context);
  device.regime = regime;
  return device;
}

/// In which regimes candidate i is the planner's choice; the candidates of both plans are the same, in the same order.
template <class Plan>
std::string note(const Plan& sustained, const Plan& spaced, std::size_t i) {
  std::string words;
  for (const Plan* plan : {&sustained, &spaced})
    if (&plan->candidates[i] == &plan->chosen())
      words += (words.empty() ? "planner's: " : ", ") + std::string(name(plan->device.regime));
  return words;
}

bool has_plain_twin(const ops::PushKernel& kernel) {
  return std::ranges::any_of(ops::push_kernels(), [&](const ops::PushKernel& other) {
    return other.store == ops::Store::plain && other.schedule == kernel.schedule && other.tile_m == kernel.tile_m &&
           other.tile_n == kernel.tile_n;
  });
}

std::vector<Variant> pushes(ops::Operands& operands, const ops::Context& context) {
  const ops::GemmShape shape = ops::gemm_shape(operands.operation(), operands.problem());
  const auto sustained = ops::plan_push(shape, setting(context, ops::Regime::sustained));
  const auto spaced = ops::plan_push(shape, setting(context, ops::Regime::spaced));
  std::vector<Variant> variants;
  const auto add = [&](std::string_view kernel, std::string_view order, ops::Raster raster, int swizzle,
                       const std::string& note, bool alone) {
    const auto* row = compiled(ops::compiled_pushes(), kernel, shape.weight_transposed);
    if (row == nullptr) return;
    variants.push_back({"push " + std::string(kernel) + "/" + std::string(order), note, alone,
                        ops::prepare_fused_push(operands, context, {row, raster, swizzle})});
  };
  for (std::size_t i = 0; i < sustained.candidates.size(); ++i) {
    const ops::PushCandidate& candidate = sustained.candidates[i];
    std::string words = note(sustained, spaced, i);
    if (words.empty() && candidate.order == "N8" && has_plain_twin(*candidate.kernel)) words = "bulk stores";
    const bool alone = !words.empty() || candidate.order == "N8" || candidate.order == "N2" ||
                       candidate.order == "N1" || candidate.order == "S2" || candidate.order == "S1";
    add(candidate.kernel->name, candidate.order, candidate.raster, candidate.swizzle, words, alone);
  }
  for (const ops::PushKernel& kernel : ops::push_kernels())
    if (kernel.store == ops::Store::plain && kernel.architecture == sustained.device.architecture)
      add(kernel.name, "N8", ops::Raster::along_n, 8, "plain stores", true);
  return variants;
}

std::vector<Variant> pulls(ops::Operands& operands, const ops::Context& context) {
  const ops::GemmShape shape = ops::gemm_shape(operands.operation(), operands.problem());
  const std::int64_t run_rows = core::TokenLayout{operands.problem()}.run_rows();
  const auto sustained = ops::plan_pull(shape, run_rows, setting(context, ops::Regime::sustained));
  const auto spaced = ops::plan_pull(shape, run_rows, setting(context, ops::Regime::spaced));
  std::vector<Variant> variants;
  const auto add = [&](std::string_view order, const std::string& note, bool alone, const ops::PullChoice& choice) {
    variants.push_back({"pull " + std::string(choice.kernel->name) + "/" + std::string(order) + " " +
                            std::to_string(choice.moves.first_unit) + "+" + std::to_string(choice.moves.unit) +
                            (choice.order == ops::ShardOrder::own_first ? "" : " from rank 0"),
                        note, alone, ops::prepare_fused_pull(operands, context, choice)});
  };
  for (std::size_t i = 0; i < sustained.candidates.size(); ++i) {
    const ops::PullCandidate& candidate = sustained.candidates[i];
    const auto* row = compiled(ops::compiled_pulls(), candidate.kernel->name, shape.weight_transposed);
    if (row == nullptr) continue;
    const std::string words = note(sustained, spaced, i);
    add(candidate.order, words, candidate.swizzle > 1, {row, candidate.swizzle, candidate.moves});
    if (words.empty()) continue;
    add(candidate.order, "rank 0's shard first", true,
        {row, candidate.swizzle, candidate.moves, ops::ShardOrder::rank_zero_first});
    for (const std::int64_t first_unit : {4096, 8192, 16384})
      for (const std::int64_t unit : {16384, 32768}) {
        ops::PullMoves moves = candidate.moves;
        moves.first_unit = first_unit;
        moves.unit = unit;
        if (unit > moves.block_rows * ops::kPullTileK * core::kElementBytes) continue;
        if (first_unit == candidate.moves.first_unit && unit == candidate.moves.unit) continue;
        add(candidate.order, "", false, {row, candidate.swizzle, moves});
      }
  }
  return variants;
}

}  // namespace

void fill_inputs_on_device(const ops::Operands& operands, core::Device& device) {
  const auto fill = [&](const core::Bf16Matrix& matrix) {
    if (matrix.columns > 0)
      ops::fill_random(device, reinterpret_cast<std::byte*>(matrix.data),
                       static_cast<std::size_t>(matrix.rows * matrix.ld * core::kElementBytes), operands.rank());
  };
  fill(operands.device_weight());
  if (operands.operation().kind == ops::Kind::gemm_to_a2a)
    fill(operands.device_hidden());
  else
    for (const core::Bf16Matrix& tensor : operands.device_heads(operands.rank()).tensor) fill(tensor);
}

Variant bare_gemm(ops::Operands& operands, const ops::Context& context) {
  const ops::Arm* arm = ops::find_arm("gemm_only", operands.operation().kind, ops::Place::cuda);
  return {"gemm_only", "reference", true, arm->prepare(operands, context)};
}

std::vector<Variant> fused_kernels(ops::Operands& operands, const ops::Context& context) {
  return operands.operation().kind == ops::Kind::gemm_to_a2a ? pushes(operands, context) : pulls(operands, context);
}

std::vector<Variant> native_arms(ops::Operands& operands, const ops::Context& context,
                                 std::vector<std::string>& refused) {
  std::vector<Variant> variants;
  for (const ops::Arm* arm : ops::arms()) {
    if (arm->kind != operands.operation().kind || arm->place != ops::Place::cuda || arm->bound || arm->name == "fused")
      continue;
    if (const auto why = arm->infeasible(operands.operation(), operands.problem(), context)) {
      refused.push_back(std::string(arm->name) + ": " + *why);
      continue;
    }
    try {
      variants.push_back({std::string(arm->name), "native", true, arm->prepare(operands, context)});
    } catch (const comm::GroupError& why) {  // an exchange that only a trial tells
      refused.push_back(std::string(arm->name) + ": " + why.what());
    }
  }
  return variants;
}

}  // namespace megaup::cuda_tests
