#include <array>
#include <string>

#include <megaup/ops/device_parts_cuda.cuh>
#include <megaup/ops/gemm_a2a/fused_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_fused_cuda_arm;

namespace {

/// Words of this rank alone; peers write one word each: the launch whose tiles they have stored.
enum LocalWord : int { kArrived, kEpoch, kLost, kLocalWords };

/// The planner's choice: the one place where it is made.
struct Choice {
  PushChoice push{};
  core::Reason why = {};  ///< why there is none
};

Choice choose(const Operation& op, const core::Problem& problem, const Context& context) {
  const PushPlan plan = plan_push(gemm_shape(op, problem), fused_setting(context), context.push);
  if (plan.refused) return {.why = plan.refused};
  const PushCandidate& best = plan.chosen();
  for (const CompiledPush* row : compiled_pushes())
    if (row->name == best.kernel->name && row->weight_transposed == op.weight_transposed)
      return {.push = {row, best.raster, best.swizzle}};
  return {.why = "kernel " + std::string(best.kernel->name) +
                 (context.push.kernel.empty() ? ", the planner's choice," : ", which the spec asks for,") +
                 " was not compiled into this program (MEGAUP_CUDA_KERNELS)"};
}

/// The GEMM stores its tiles into the heads of their final ranks; the end of the kernel raises a flag at every peer and
/// waits for theirs. Launch e writes set e % 2, as on the host (gemm_a2a/fused.cpp), so nobody waits at entry.
///
/// A kernel carries the addresses of its set: there are two, which take turns. A graph must therefore capture an even
/// number of runs, and be replayed after an even number of others. The end of the kernel knows a set that is not the
/// epoch's, and fault() says so.
class Fused final : public PreparedOperation {
 public:
  Fused(Operands& operands, const Context& context, const PushChoice& choice)
      : device_(*context.communicator.device()),
        rank_(operands.rank()),
        timeout_ns_(patience_ns(context)),
        flags_(context, operands.problem().P, kLocalWords),
        choice_(choice),
        asked_(text(context.push)),
        planned_for_(device_setting(context).sms) {
    require_aligned_rows(operands);
    const PushMap map = push_map(operands.problem(), operands.operation().columns, operands.rank());
    for (int set = 0; set < Operands::kHeadSets; ++set)
      kernels_[static_cast<std::size_t>(set)] =
          choice_.kernel->push(gemm(operands), map, homes(operands, set), barrier(operands, set));
  }

  void run() override {
    ++epoch_;
    kernels_[static_cast<std::size_t>(current_set())]->run(stream_of(device_));
  }

  int current_set() const override { return static_cast<int>(epoch_ % Operands::kHeadSets); }
  void assume_peers_arrived() override { flags_.assume_peers_arrived(); }
  core::Reason fault() override {
    const std::uint32_t lost = flags_.take(kLost);
    if (lost == 0) return {};
    if (lost == comm::device::kOutOfTurn)
      return "a graph with a fused GEMM was replayed out of turn: sets of heads take turns, so capture an even number "
             "of runs, and replay it after an even number of others";
    return "rank " + std::to_string(rank_) + " waited in vain for the tiles of rank " + std::to_string(lost - 1) +
           " in or before launch " + std::to_string(epoch_);
  }

  core::Attributes choices() const override {
    return {{"kernel", std::string(choice_.kernel->name)},
            {"raster", std::string(name(choice_.raster))},
            {"swizzle", std::int64_t{choice_.swizzle}},
            {"kernel_asked", asked_},
            {"kernel_evidence", std::string(evidence(choice_.kernel->architecture))},
            {"multiprocessors", planned_for_},
            {"head_sets", std::int64_t{Operands::kHeadSets}}};
  }

 private:
  DeviceGemm gemm(const Operands& operands) const {
    return {.shape = gemm_shape(operands.operation(), operands.problem()),
            .a = operands.device_hidden().data,
            .b = operands.device_weight().data,
            .lda = operands.device_hidden().ld,
            .ldb = operands.device_weight().ld,
            .raster = choice_.raster,
            .swizzle = choice_.swizzle,
            .sms = device_.multiprocessors()};
  }

  static PushHomes homes(const Operands& operands, int set) {
    PushHomes to{};
    to.rows = operands.problem().B * operands.problem().S();
    for (int rank = 0; rank < operands.problem().P; ++rank) {
      const HeadTensors heads = operands.device_heads(rank, set);
      for (int kind = 0; kind < kPushKinds; ++kind) {
        const core::Bf16Matrix& tensor = heads.tensor[static_cast<std::size_t>(kind)];
        to.base[rank * kPushKinds + kind] = tensor.data;
        to.widths[kind] = tensor.columns;
        to.pitches[kind] = tensor.ld;
      }
    }
    return to;
  }

  EndBarrier barrier(const Operands& operands, int set) const {
    EndBarrier barrier{.arrived = flags_.local() + kArrived,
                       .epoch = flags_.local() + kEpoch,
                       .lost = flags_.local() + kLost,
                       .flags = {},
                       .ranks = static_cast<std::int32_t>(operands.problem().P),
                       .rank = operands.rank(),
                       .timeout_ns = timeout_ns_,
                       .turn = static_cast<std::uint32_t>(set)};
    static_assert(Operands::kHeadSets == 2, "EndBarrier::turn");
    for (int rank = 0; rank < operands.problem().P; ++rank) barrier.flags[rank] = flags_.of_rank(rank);
    return barrier;
  }

  core::Device& device_;
  int rank_;
  std::uint64_t timeout_ns_;
  DeviceFlags flags_;
  PushChoice choice_;
  std::string asked_;
  std::int64_t planned_for_;
  std::array<std::unique_ptr<PreparedKernel>, Operands::kHeadSets> kernels_;
  std::uint64_t epoch_ = 0;
};

core::Reason infeasible(const Operation& op, const core::Problem& problem, const Context& context) {
  if (auto why = unsound_on_device(problem, context)) return why;
  if (auto why = context.communicator.no_peer_memory()) return why;
  if (auto why = no_fused_kernels(*context.communicator.device())) return why;
  if (auto why = push_refusal(problem, op.columns)) return why;
  return choose(op, problem, context).why;
}

}  // namespace

std::unique_ptr<PreparedOperation> prepare_fused_push(Operands& operands, const Context& context,
                                                      const PushChoice& choice) {
  return std::make_unique<Fused>(operands, context, choice);
}

constinit const Arm gemm_a2a_fused_cuda_arm{
    .name = "fused",
    .doc = "one kernel: the GEMM stores each tile in its final place on its final rank",
    .kind = Kind::gemm_to_a2a,
    .place = Place::cuda,
    .bound = false,
    .infeasible = infeasible,
    .prepare =
        [](Operands& operands, const Context& context) {
          return prepare_fused_push(operands, context, choose(operands.operation(), operands.problem(), context).push);
        },
    .workspace_bytes = [](const Operation&, const core::Problem& problem,
                          std::string_view) { return DeviceFlags::bytes(problem.P, kLocalWords); }};

}  // namespace megaup::ops
