#include <fmt/format.h>

#include <megaup/ops/arm.hpp>
#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/gemm_a2a/head_sink.hpp>
#include <megaup/ops/matrix_source.hpp>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_fused_arm;

namespace {

/// The GEMM stores its tiles into the heads of their final ranks; then one flag a rank and peer says that all tiles of
/// a launch are there.
///
/// Launch e writes set e % 2. Rank r may enter launch e as soon as its launch e-1 has ended, and that one ended only
/// after every peer had begun launch e-1: from then on set e % 2, which belongs to launch e-2, is no longer read by its
/// owner. So nobody waits at entry, and a late rank is never overtaken by more than one set. docs/decisions/0005 has
/// the whole argument.
class Fused final : public PreparedOperation {
 public:
  Fused(Operands& operands, const Context& context)
      : operands_(operands),
        rank_(context.communicator.rank()),
        P_(context.communicator.size()),
        gemm_(prepare_gemm(operands, context)),
        sink_(operands),
        flags_(context.communicator.peer_memory(0, static_cast<std::size_t>(P_))) {}

  void run() override {
    ++epoch_;
    sink_.select(current_set());
    MatrixSource x(operands_.hidden());
    gemm_->run(x, operands_.weight(), sink_);
    for (int k = 1; k <= P_; ++k) flags_->signal((rank_ + k) % P_, static_cast<std::size_t>(rank_), epoch_);
    for (int k = 1; k < P_; ++k) {
      const int peer = (rank_ + k) % P_;
      flags_->wait(static_cast<std::size_t>(peer), epoch_, [this, peer] { return missing(peer); });
    }
  }

  int current_set() const override { return static_cast<int>(epoch_ % Operands::kHeadSets); }

  core::Attributes choices() const override {
    return {{"gemm", gemm_->describe()}, {"head_sets", std::int64_t{Operands::kHeadSets}}};
  }

 private:
  std::string missing(int peer) const {
    return fmt::format("rank {} has not stored its tiles of launch {} of {} on rank {}", peer, epoch_,
                       operands_.operation().name, rank_);
  }

  Operands& operands_;
  int rank_, P_;
  std::uint64_t epoch_ = 0;
  std::unique_ptr<HostGemm> gemm_;
  HeadSink sink_;
  std::unique_ptr<comm::PeerMemory> flags_;  // flag q: tiles of rank q
};

core::Reason infeasible(const Operation&, const core::Problem& problem, const Context& context) {
  if (auto why = unsound(problem, context)) return why;
  return context.communicator.no_peer_memory();
}

}  // namespace

constinit const Arm gemm_a2a_fused_arm{
    .name = "fused",
    .doc = "the GEMM stores each tile in its final place on its final rank",
    .kind = Kind::gemm_to_a2a,
    .bound = false,
    .infeasible = infeasible,
    .prepare = [](Operands& operands, const Context& context) -> std::unique_ptr<PreparedOperation> {
      return std::make_unique<Fused>(operands, context);
    },
    .workspace_bytes = [](const Operation& op, const core::Problem& problem,
                          std::string_view provider) { return gemm_bytes(op, problem, provider); }};

}  // namespace megaup::ops
