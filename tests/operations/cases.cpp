#include <megaup/tests/operations/cases.hpp>

#include <fmt/format.h>

#include <megaup/ops/gate.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/operands.hpp>

namespace megaup::operation_tests {

std::vector<core::Problem> layouts_of(core::Problem base) {
  std::vector<core::Problem> problems;
  for (const auto format : {core::ActivationFormat::sbhd, core::ActivationFormat::bshd, core::ActivationFormat::thd})
    for (const auto order : {core::SequenceOrder::contiguous, core::SequenceOrder::dual_chunk})
      for (const auto weight : {core::QkvWeight::grouped, core::QkvWeight::concatenated}) {
        base.format = format;
        base.order = order;
        base.qkv_weight = weight;
        problems.push_back(base);
      }
  return problems;
}

std::vector<core::Problem> small_problems(std::int64_t P) {
  std::vector<core::Problem> problems;
  const core::Problem base{.P = P, .B = 2, .s = 6, .H = 23, .Hq = 8, .Hk = 2, .D = 8};
  if (P <= base.Hk) problems.push_back(base);
  core::Problem equal = base;
  equal.Hk = equal.Hq = P <= 4 ? 4 : 8;
  problems.push_back(equal);
  if (P > base.Hk) {
    core::Problem replicated = base;
    replicated.kv_replication = true;
    problems.push_back(replicated);
  }
  return problems;
}

std::vector<ArmChoice> all_arms() {
  std::vector<ArmChoice> choices;
  for (const ops::Operation* op : ops::operations())
    for (const ops::Arm* arm : ops::arms())
      if (arm->kind == op->kind && arm->place == ops::Place::host && !arm->bound) choices.push_back({op->name, arm->name});
  return choices;
}

std::string in_words(const core::Problem& p) {
  return fmt::format("P {} B {} s {} H {} Hq {} Hk {} D {} {} {} {}", p.P, p.B, p.s, p.H, p.Hq, p.Hk, p.D,
                     name(p.format), name(p.order), name(p.qkv_weight));
}

std::vector<std::string> providers(const ops::Operation& op, const core::Problem& problem) {
  std::vector<std::string> names;
  for (const ops::GemmProvider* provider : ops::gemm_providers())
    if (!provider->infeasible(ops::gemm_shape(op, problem))) names.emplace_back(provider->name);
  return names;
}

std::string gate_failure(comm::Communicator& group, const core::Problem& problem, const ArmChoice& choice,
                         const CaseOptions& options) {
  const ops::Operation& op = *ops::find_operation(choice.operation);
  const ops::Arm& arm = *ops::find_arm(choice.arm, op.kind);
  const std::vector<std::string> names = providers(op, problem);
  const std::string provider = names[options.provider % names.size()];
  const std::string title = fmt::format("{} {} [{}] padding {} {}: ", choice.operation, choice.arm, in_words(problem),
                                        options.padding, provider);
  const ops::Context context{.communicator = group, .threads = options.threads, .gemm_provider = provider};
  if (const auto why = arm.infeasible(op, problem, context)) return title + *why;
  ops::Operands operands(op, problem, group, options.padding, options.threads);
  const auto prepared = arm.prepare(operands, context);
  const ops::Verdict verdict = ops::check_arm(*prepared, operands, group, {.seed = 42});
  return verdict.passed() ? std::string() : title + verdict.why;
}

}  // namespace megaup::operation_tests
