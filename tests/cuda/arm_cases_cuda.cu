#include <arm_cases_cuda.cuh>

#include <cstdio>
#include <numeric>

#include <megaup/ops/gate.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/tests/operations/cases.hpp>

namespace megaup::cuda_tests {

void Findings::expect(bool right, const std::string& what) {
  ++checks;
  if (right) return;
  if (++failures <= 20) std::printf("WRONG: %s\n", what.c_str());
  std::fflush(stdout);
}

Totals totals(comm::Communicator& group, const Findings& findings) {
  const auto sum = [&](std::int64_t mine) {
    const std::vector<double> all = group.all_gather(static_cast<double>(mine));
    return static_cast<std::int64_t>(std::accumulate(all.begin(), all.end(), 0.0));
  };
  return {sum(findings.checks), sum(findings.failures)};
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
    ++findings.left_out["for want of time"];
    return false;
  }
  const core::Reason why = c.arm.infeasible(c.op, c.problem, {.communicator = group});
  if (why) ++findings.refusals[std::string(c.arm.name) + ": " + *why];
  return !why;
}

void count_error(comm::Communicator& group, const Case& c, const comm::GroupError& error, Findings& findings) {
  if (c.arm.name == "native_packed_window" || c.arm.name == "native_packed_zero_cta")
    ++findings.refusals[std::string(c.arm.name) + ": " + error.what()];
  else if (group.rank() == 0)
    findings.expect(false, c.words() + ": " + error.what());
}

std::unique_ptr<Prepared> prepared(comm::Communicator& group, const Case& c, Findings& findings) {
  if (!begins(group, c, findings)) return nullptr;
  return unless_refused(group, c, findings, [&] { return std::make_unique<Prepared>(group, c, findings); });
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
  const auto ready = prepared(group, c, findings);
  if (!ready) return;
  std::string why;
  try {
    why = ops::check_arm(*ready->operation, ready->operands, group, ops::InputKey{.seed = 42}).why;
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
