#include <arm_cases_cuda.cuh>

#include <megaup/ops/gate.hpp>
#include <megaup/tests/operations/cases.hpp>

namespace megaup::cuda_tests {

namespace {

/// Whether the layout is another one for this operation: without KV heads the order of the packed weight does not
/// matter, and packed sequences are those of bshd.
bool distinct(const ops::Operation& op, const core::Problem& problem) {
  if (problem.qkv_weight == core::QkvWeight::grouped && !problem.kv_replication) return true;
  if (op.columns == core::Columns::query) return false;
  return problem.qkv_weight == core::QkvWeight::grouped || problem.format != core::ActivationFormat::thd;
}

}  // namespace

/// The fused arms first: time may not suffice for all.
void check_layouts(comm::Communicator& group, Findings& findings) {
  for (const bool fused : {true, false})
    for (const core::Problem& base : problems(group.size()))
      for (const core::Problem& problem : operation_tests::layouts_of(base))
        each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
          if ((arm.name == "fused") == fused && distinct(op, problem)) check_gate(group, {op, arm, problem}, findings);
        });
}

/// Rows that are further apart than they are long: by a multiple of 16 bytes, and by two bytes.
void check_padding(comm::Communicator& group, Findings& findings) {
  for (const std::int64_t padding : {8, 1})
    each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
      const Case c{op, arm, problems(group.size()).front(), padding};
      const bool fused = arm.name == "fused";
      if (!fused || (padding == 8 && op.kind == ops::Kind::gemm_to_a2a)) return check_gate(group, c, findings);
      if (!begins(group, c, findings)) return;
      std::string why;
      try {
        const Prepared taken(group, c, findings);
      } catch (const core::Error& error) {
        why = error.what();
      }
      findings.expect(why.find("elements apart") != std::string::npos, c.words() + " was not refused: " + why);
      group.barrier();
    });
}

void check_self_test(comm::Communicator& group, Findings& findings) {
  each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
    const Case c{op, arm, problems(group.size()).back()};
    const auto ready = prepared(group, c, findings);
    if (!ready) return;
    std::vector<std::string> unseen;
    try {
      unseen = ops::self_test(*ready->operation, ready->operands, group, ops::InputKey{.seed = 3});
    } catch (const ops::LaunchFault& fault) {
      unseen.push_back(fault.what());
    }
    if (group.rank() == 0)
      findings.expect(unseen.empty(), c.words() + (unseen.empty() ? "" : ": not seen: " + unseen.front()));
  });
}

void check_refusals(comm::Communicator& group, Findings& findings) {
  core::Problem odd = problems(group.size()).front();
  odd.s = 96;  // no whole tiles of rows
  core::Problem foreign = problems(group.size()).front();
  foreign.P = 2 * group.size();
  each_arm([&](const ops::Operation& op, const ops::Arm& arm) {
    const ops::Context context{.communicator = group};
    if (group.rank() == 0) {
      findings.expect(arm.infeasible(op, foreign, context).has_value(),
                      std::string(arm.name) + " took a foreign problem");
      const core::Reason why = arm.infeasible(op, odd, context);
      findings.expect(why.has_value() == (arm.name == "fused"), std::string(op.name) + " " + std::string(arm.name) +
                                                                    " with 96 rows: " + why.value_or("feasible"));
    }
    group.barrier();
    if (arm.name != "fused") check_gate(group, {op, arm, odd}, findings);
  });
}

}  // namespace megaup::cuda_tests
