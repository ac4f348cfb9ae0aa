#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/sequence.hpp>
#include <megaup/ops/a2a_gemm/pull_map.hpp>
#include <megaup/ops/a2a_gemm/pull_plan.hpp>
#include <megaup/ops/gemm_a2a/push_map.hpp>
#include <megaup/ops/gemm_a2a/push_plan.hpp>
#include <megaup/ops/operation.hpp>

namespace megaup::experiments {
namespace {

/// The planner's table, or why the fused arm cannot do it at all.
std::string kernel_table(const ops::Operation& op, const core::Problem& problem, const Spec& spec,
                         std::int64_t multiprocessors, ops::Architecture architecture) {
  const auto shape = ops::gemm_shape(op, problem);
  const bool emulated = spec.backend.share_device || spec.backend.solo || problem.P == 1;
  const ops::DeviceSetting device{.regime = spec.measure.duty,
                                  .sms = multiprocessors,
                                  .peers = emulated ? ops::Peers::same_device : ops::Peers::linked,
                                  .architecture = architecture};
  const auto refused = [](const std::string& why) { return fmt::format("no fused kernel: {}\n", why); };
  if (op.kind == ops::Kind::gemm_to_a2a) {
    if (const auto why = ops::push_refusal(problem, op.columns)) return refused(*why);
    return text(ops::plan_push(shape, device, spec.backend.push));
  }
  if (const auto why = ops::pull_refusal(problem, op.columns)) return refused(*why);
  return text(ops::plan_pull(shape, core::TokenLayout{problem}.run_rows(), device, spec.backend.pull));
}

struct Table {
  std::string text, first;  ///< the operation and cell that had it first
  std::size_t others = 0;
};

}  // namespace

std::string kernel_tables(const Plan& plan, std::int64_t multiprocessors, ops::Architecture architecture) {
  std::vector<Table> tables;
  for (const Cell& cell : plan.cells) {
    if (!cell.refused.empty()) continue;
    for (const std::string& name : plan.spec.operations) {
      if (name == kSequence) continue;  // made of the others
      std::string text =
          kernel_table(*ops::find_operation(name), cell.problem, plan.spec, multiprocessors, architecture);
      const auto same = std::ranges::find(tables, text, &Table::text);
      if (same != tables.end())
        ++same->others;
      else
        tables.push_back({std::move(text), fmt::format("{} of {}", name, cell.id)});
    }
  }
  std::string out;
  for (const Table& table : tables)
    out += fmt::format("\n{}{}\n{}", table.first, table.others > 0 ? fmt::format(" and {} more", table.others) : "",
                       table.text);
  return out;
}

}  // namespace megaup::experiments
