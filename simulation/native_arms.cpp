#include <megaup/simulation/native_arms.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <megaup/simulation/exchange_time.hpp>
#include <megaup/simulation/gemm_time.hpp>
#include <megaup/simulation/pipeline.hpp>
#include <megaup/simulation/reorder_time.hpp>

namespace megaup::simulation {
namespace {

using core::Head;
using core::OperationForm;
using core::Problem;

constexpr std::size_t kInFlight = 2;
constexpr std::array<std::pair<std::string_view, NativeWay>, 3> kWays{{{"native_packed", NativeWay::packed},
                                                                       {"native_pipelined", NativeWay::pipelined},
                                                                       {"native_chunked", NativeWay::chunked}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTransports{
    {{"_ce", "copy_engine"}, {"_window", "nccl_window"}, {"_zero_cta", "nccl_zero_cta"}}};

/// Bytes of each part of a pipelined exchange: Q, K and V, or the query heads alone.
std::vector<double> head_parts(const OperationForm& op, const Problem& problem) {
  const core::HeadLayout layout{problem, op.columns};
  std::vector<double> parts;
  for (const Head kind : {Head::query, Head::key, Head::value})
    if (const std::int64_t heads = layout.local_heads(kind) * problem.P; heads > 0)
      parts.push_back(static_cast<double>(problem.M() * heads * problem.D * core::kElementBytes));
  return parts;
}

/// One part: `before` and `after` are one reorder pass each.
Answer<PipelinePart> moved_part(const Machine& machine, const NativeArm& arm, std::int64_t ranks, double bytes) {
  const auto pass = reorder_time(machine, bytes);
  if (!pass) return Cannot{pass.reason()};
  const auto exchange = exchange_time(machine, arm.transport, ranks, bytes);
  if (!exchange) return Cannot{exchange.reason()};
  return PipelinePart{pass->seconds, exchange->seconds, pass->seconds};
}

Answer<std::vector<PipelinePart>> moved_parts(const Machine& machine, const NativeArm& arm, std::int64_t ranks,
                                              const std::vector<double>& bytes) {
  std::vector<PipelinePart> parts;
  for (const double part_bytes : bytes) {
    const auto part = moved_part(machine, arm, ranks, part_bytes);
    if (!part) return Cannot{part.reason()};
    parts.push_back(*part);
  }
  return parts;
}

}  // namespace

std::optional<NativeArm> native_arm(const Machine& machine, std::string_view name) {
  for (const auto& [prefix, way] : kWays) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view suffix = name.substr(prefix.size());
    if (suffix.empty()) return NativeArm{way, machine.default_transport};
    for (const auto& [ending, transport] : kTransports)
      if (suffix == ending) return NativeArm{way, std::string(transport)};
  }
  return std::nullopt;
}

Machine with_transport(const Machine& machine, const std::string& transport) {
  Machine out = machine;
  if (transport == machine.default_transport) return out;
  out.default_transport = transport;
  for (CalibratedCell& cell : out.cells)
    for (const auto& [way_name, way] : kWays) {
      cell.held_out.erase(std::string(way_name));
      for (const auto& [ending, known] : kTransports)
        if (const auto twin = cell.held_out.find(fmt::format("{}{}", way_name, ending));
            known == transport && twin != cell.held_out.end())
          cell.held_out[std::string(way_name)] = twin->second;
    }
  return out;
}

std::int64_t row_chunks(std::int64_t rows) {
  const std::int64_t each = core::chunk_rows(rows);
  return (rows + each - 1) / each;
}

Answer<Estimate> native_time(const Machine& machine, const NativeArm& arm, const OperationForm& op,
                             const Problem& problem) {
  const core::GemmShape shape = core::gemm_shape(op, problem);
  const auto gemm = gemm_time(machine, shape);
  if (!gemm) return Cannot{gemm.reason()};
  const auto bytes = static_cast<double>(core::exchange_bytes(op, problem));
  const auto exchange = exchange_time(machine, arm.transport, problem.P, bytes);
  if (!exchange) return Cannot{exchange.reason()};

  std::vector<double> part_bytes{bytes};
  if (arm.way == NativeWay::pipelined) part_bytes = head_parts(op, problem);
  if (arm.way == NativeWay::chunked)
    part_bytes.assign(static_cast<std::size_t>(row_chunks(problem.M())),
                      bytes / static_cast<double>(row_chunks(problem.M())));
  auto parts = moved_parts(machine, arm, problem.P, part_bytes);
  if (!parts) return Cannot{parts.reason()};

  double seconds = machine.gap ? machine.gap->value : 0;
  if (arm.way == NativeWay::chunked) {
    const double launch = machine.launch && parts->size() > 1 ? machine.launch->value : 0;
    for (PipelinePart& part : *parts) part.before += gemm->seconds / static_cast<double>(parts->size()) + launch;
    seconds += pipeline_seconds(*parts, kInFlight);
  } else {
    seconds += gemm->seconds + pipeline_seconds(*parts, parts->size());
  }
  // The gap is what parts timed alone cost too much, so it may be negative: never by more than the other parts take.
  seconds = std::max({seconds, gemm->seconds, exchange->seconds});
  return Estimate{seconds, fmt::format("{}; {}; {} part{}", gemm->rule, exchange->rule, parts->size(),
                                       parts->size() == 1 ? "" : "s")};
}

}  // namespace megaup::simulation
