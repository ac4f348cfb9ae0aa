#include <arm_cases_cuda.cuh>

#include <cstdio>

#include <megaup/ops/gate.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/tests/operations/cases.hpp>

namespace megaup::cuda_tests {

void Findings::expect(bool right, const std::string& what) {
  const std::lock_guard lock(mutex);
  ++checks;
  if (right) return;
  if (++failures <= 20) std::printf("WRONG: %s\n", what.c_str());
  std::fflush(stdout);
}

std::string Case::words() const {
  return std::string(op.name) + " " + std::string(arm.name) + " [" + operation_tests::in_words(problem) + "]" +
         (padding == 0 ? "" : " padding " + std::to_string(padding));
}

Prepared::Prepared(comm::Communicator& group, const Case& c, const Findings& findings)
    : operands(c.op, c.problem, group, c.padding),
      operation(c.arm.prepare(operands, {.communicator = group, .patience = findings.patience})),
      device(*group.device()) {}

bool begins(comm::Communicator& group, const Case& c, Findings& findings) {
  if (group.any(group.rank() == 0 && std::chrono::steady_clock::now() > findings.end)) {
    if (group.rank() == 0) ++findings.left_out;
    return false;
  }
  const core::Reason why = c.arm.infeasible(c.op, c.problem, {.communicator = group});
  if (!why) return true;
  const std::lock_guard lock(findings.mutex);
  if (group.rank() == 0) ++findings.refusals[std::string(c.arm.name) + ": " + *why];
  return false;
}

std::vector<core::Problem> problems(std::int64_t P) {
  const core::Problem grouped{.P = P, .B = 2, .s = 256, .H = 192, .Hq = 16, .Hk = 8, .D = 64};
  core::Problem equal = grouped, replicated = grouped;
  equal.Hk = equal.Hq = 8;
  equal.D = 128;
  replicated.Hk = P / 2;
  replicated.kv_replication = true;
  return {grouped, equal, replicated};
}

void check_gate(comm::Communicator& group, const Case& c, Findings& findings) {
  if (!begins(group, c, findings)) return;
  Prepared prepared(group, c, findings);
  std::string why;
  try {
    why = ops::check_arm(*prepared.operation, prepared.operands, group, {.seed = 42}).why;
  } catch (const ops::LaunchFault& fault) {  // the ranks are still in step
    why = fault.what();
  }
  if (group.rank() == 0) findings.expect(why.empty(), c.words() + ": " + why);
}

std::string complaint(Prepared& prepared, const ops::InputKey& key) {
  prepared.operands.outputs_from_device();
  const auto rows = ops::rows_to_check(prepared.operands, key, 2e6);
  const std::string why = ops::numeric_finding(prepared.operands, prepared.operation->current_set(), rows,
                                               ops::expected_rows(prepared.operands, key, rows))
                              .why;
  if (const core::Reason fault = prepared.operation->fault()) return *fault;
  return why;
}

}  // namespace megaup::cuda_tests
