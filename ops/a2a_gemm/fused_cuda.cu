#include <string>

#include <megaup/ops/a2a_gemm/fused_cuda.cuh>
#include <megaup/ops/device_parts_cuda.cuh>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_fused_cuda_arm;

namespace {

/// The planner's choice: the one place where it is made.
struct Choice {
  PullChoice pull{};
  core::Reason why = {};  ///< why there is none
};

Choice choose(const Operation& op, const core::Problem& problem, const Context& context) {
  const PullPlan plan =
      plan_pull(gemm_shape(op, problem), core::TokenLayout{problem}.run_rows(), fused_setting(context), context.pull);
  if (plan.refused) return {.why = plan.refused};
  const PullCandidate& best = plan.chosen();
  for (const CompiledPull* row : compiled_pulls())
    if (row->name == best.kernel->name && row->weight_transposed == op.weight_transposed)
      return {.pull = {row, best.swizzle, best.moves}};
  return {.why = "kernel " + std::string(best.kernel->name) +
                 (context.pull.kernel.empty() ? ", the planner's choice," : ", which the spec asks for,") +
                 " was not compiled into this program (MEGAUP_CUDA_KERNELS)"};
}

/// Pulled heads are copied in one piece.
void require_gapless_heads(const Operands& operands) {
  for (const core::Bf16Matrix& tensor : operands.device_heads(operands.rank()).tensor)
    if (tensor.ld != tensor.columns)
      throw core::Error(core::ErrorKind::cell,
                        "rows of the heads are " + std::to_string(tensor.ld) + " elements apart and " +
                            std::to_string(tensor.columns) + " long: the fused kernel pulls heads without gaps",
                        operands.rank());
}

/// One kernel: idle warps pull the peers' heads into a staging buffer while others multiply what has come, the own shard
/// first. The order of K therefore differs from rank to rank; on one rank it is the same from run to run.
class Fused final : public PreparedOperation {
 public:
  Fused(Operands& operands, const Context& context, const PullChoice& choice)
      : device_(*context.communicator.device()),
        timeout_ns_(patience_ns(context)),
        flags_(context, pull_peer_words(operands.problem()), pull_local_words(operands.problem())),
        staging_(device_,
                 static_cast<std::size_t>(pull_staging_bytes(operands.problem(), operands.operation().columns))),
        choice_(choice),
        asked_(text(context.pull)),
        planned_for_(device_setting(context).sms) {
    require_aligned_rows(operands);
    require_gapless_heads(operands);
    const PullMap map = pull_map(operands.problem(), operands.operation().columns, operands.rank(), choice_.order);
    kernel_ = choice_.kernel->pull(gemm(operands), map, choice_.moves, heads(operands), flags(operands));
  }

  void run() override { kernel_->run(stream_of(device_)); }
  void poison() override {
    if (staging_.size() > 0) device_.fill(staging_.data(), staging_.size(), 0xFF);
  }
  void assume_peers_arrived() override { flags_.assume_peers_arrived(); }
  core::Reason fault() override {
    const std::uint32_t lost =
        flags_.take(static_cast<int>(PullFlags{.local = flags_.local()}.lost() - flags_.local()));
    if (lost == 0) return {};
    return pull_fault(lost);
  }

  core::Attributes choices() const override {
    return {{"kernel", std::string(choice_.kernel->name)},
            {"raster", std::string(name(Raster::along_n))},
            {"swizzle", std::int64_t{choice_.swizzle}},
            {"kernel_asked", asked_},
            {"kernel_evidence", std::string(evidence(choice_.kernel->architecture))},
            {"multiprocessors", planned_for_},
            {"move_block_rows", choice_.moves.block_rows},
            {"move_group_rows", choice_.moves.group_rows},
            {"move_unit_bytes", choice_.moves.unit},
            {"k_order", std::string(choice_.order == ShardOrder::own_first
                                        ? "own shard first, then rank+1 and on; replicated KV heads last"
                                        : "shard of rank 0 first, then of rank 1 and on; replicated KV heads last")}};
  }

 private:
  PullGemm gemm(const Operands& operands) const {
    return {.shape = gemm_shape(operands.operation(), operands.problem()),
            .weight = operands.device_weight().data,
            .weight_ld = operands.device_weight().ld,
            .c = operands.device_hidden().data,
            .c_ld = operands.device_hidden().ld,
            .swizzle = choice_.swizzle,
            .sms = device_.multiprocessors()};
  }

  PullHeads heads(const Operands& operands) const {
    PullHeads from{};
    from.rows = operands.problem().B * operands.problem().S();
    from.staging = staging_.data();
    for (int rank = 0; rank < operands.problem().P; ++rank) {
      const HeadTensors tensors = operands.device_heads(rank);
      for (int kind = 0; kind < kPullKinds; ++kind) {
        const core::Bf16Matrix& tensor = tensors.tensor[static_cast<std::size_t>(kind)];
        from.base[rank * kPullKinds + kind] = tensor.data;
        from.widths[kind] = tensor.columns;
      }
    }
    return from;
  }

  PullFlags flags(const Operands& operands) const {
    PullFlags flags{.peers = {}, .local = flags_.local(), .timeout_ns = timeout_ns_};
    for (int rank = 0; rank < operands.problem().P; ++rank) flags.peers[rank] = flags_.of_rank(rank);
    return flags;
  }

  core::Device& device_;
  std::uint64_t timeout_ns_;
  DeviceFlags flags_;
  core::DeviceBuffer staging_;
  PullChoice choice_;
  std::string asked_;
  std::int64_t planned_for_;
  std::unique_ptr<PreparedKernel> kernel_;
};

core::Reason infeasible(const Operation& op, const core::Problem& problem, const Context& context) {
  if (auto why = unsound_on_device(problem, context)) return why;
  if (auto why = context.communicator.no_peer_memory()) return why;
  if (auto why = no_fused_kernels(*context.communicator.device())) return why;
  if (auto why = pull_refusal(problem, op.columns)) return why;
  return choose(op, problem, context).why;
}

}  // namespace

std::unique_ptr<PreparedOperation> prepare_fused_pull(Operands& operands, const Context& context,
                                                      const PullChoice& choice) {
  return std::make_unique<Fused>(operands, context, choice);
}

constinit const Arm a2a_gemm_fused_cuda_arm{
    .name = "fused",
    .doc = "one kernel: the heads of every rank are pulled while the GEMM multiplies what has come, its own first",
    .kind = Kind::a2a_to_gemm,
    .place = Place::cuda,
    .bound = false,
    .infeasible = infeasible,
    .prepare =
        [](Operands& operands, const Context& context) {
          return prepare_fused_pull(operands, context, choose(operands.operation(), operands.problem(), context).pull);
        },
    .workspace_bytes =
        [](const Operation& op, const core::Problem& problem, std::string_view) {
          return DeviceFlags::bytes(pull_peer_words(problem), pull_local_words(problem)) +
                 pull_staging_bytes(problem, op.columns);
        }};

}  // namespace megaup::ops
