#include <megaup/simulation/fused_arm.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <megaup/simulation/floor.hpp>
#include <megaup/simulation/gemm_time.hpp>

namespace megaup::simulation {

double push_seconds(const FusedWork& work) {
  return std::max(work.compute + work.link / work.waves, work.compute / work.waves + work.link);
}

double pull_seconds(const FusedWork& work) {
  const double wave = work.compute / work.waves, rest = (1 - work.own_share) * wave;
  return std::max({work.compute, work.link / work.waves + rest + (work.waves - 1) * wave, work.link + rest});
}

Answer<FusedWork> fused_work(const Machine& machine, const core::OperationForm& op, const core::Problem& problem) {
  const core::GemmShape shape = core::gemm_shape(op, problem);
  const auto gemm = gemm_time(machine, shape);
  if (!gemm) return Cannot{gemm.reason()};
  if (problem.P > 1 && !machine.link_rate)
    return Cannot{fmt::format("machine '{}' has no link_rate, which the fused arm needs", machine.name)};
  const double link = problem.P > 1 ? link_bytes(op, problem) / machine.link_rate->value : 0;
  return FusedWork{gemm->seconds, link, static_cast<double>(waves(machine, shape)), 1 / static_cast<double>(problem.P)};
}

Answer<Estimate> fused_time(const Machine& machine, const core::OperationForm& op, const core::Problem& problem) {
  const bool push = op.kind == core::Kind::gemm_to_a2a;
  const std::optional<Contention>& factors = push ? machine.push : machine.pull;
  if (!factors)
    return Cannot{
        fmt::format("machine '{}' has no contention factors of fused kernels {}: no fused arm was measured on it",
                    machine.name, push ? "with the GEMM first (push)" : "with the exchange first (pull)")};
  auto work = fused_work(machine, op, problem);
  if (!work) return Cannot{work.reason()};
  work->compute *= factors->compute.value;
  work->link *= factors->link.value;
  const double barrier = problem.P > 1 && machine.barrier ? machine.barrier->value : 0;
  return Estimate{(push ? push_seconds(*work) : pull_seconds(*work)) + barrier,
                  fmt::format("{} of {:.0f} waves, compute x {:.3g}, link x {:.3g} ({})", push ? "push" : "pull",
                              work->waves, factors->compute.value, factors->link.value, factors->compute.source)};
}

}  // namespace megaup::simulation
