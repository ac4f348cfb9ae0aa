#include <fmt/format.h>

#include <megaup/ops/a2a_gemm/head_source.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/arm_parts.hpp>
#include <megaup/ops/matrix_sink.hpp>

namespace megaup::ops {

extern constinit const Arm a2a_gemm_fused_arm;

namespace {

/// The GEMM reads its A in the heads of every rank. Two flags a peer, both counting launches:
///
///   ready  at entry, to every peer: my heads are those of launch e. A peer's part is waited for where the GEMM first
///          needs it.
///
///   read   at exit, to every peer: I have read yours. run() returns when all peers have said so, because then the
///          heads may be changed.
///
/// A rank is thus at most one launch ahead of another, and no flag is ever reset (docs/decisions/0005).
class Fused final : public PreparedOperation {
 public:
  Fused(Operands& operands, const Context& context)
      : operands_(operands),
        rank_(operands.rank()),
        P_(context.communicator.size()),
        shard_columns_(HeadSource::shard_columns(operands.operation(), operands.problem())),
        gemm_(prepare_gemm(operands, context, shard_columns_)),
        flags_(context.communicator.peer_memory(0, static_cast<std::size_t>(2 * P_))),
        source_(operands, [this](int peer) { wait(ready(peer), peer, "entered"); }) {}

  void run() override {
    ++epoch_;
    for (int k = 1; k <= P_; ++k) flags_->signal((rank_ + k) % P_, ready(rank_), epoch_);
    MatrixSink c(operands_.hidden());  // [M, H]
    gemm_->run(source_, operands_.weight(), c);
    for (int k = 1; k < P_; ++k) flags_->signal((rank_ + k) % P_, read(rank_), epoch_);
    for (int k = 1; k < P_; ++k) wait(read((rank_ + k) % P_), (rank_ + k) % P_, "finished reading");
  }

  void poison() override { source_.poison(); }

  core::Attributes choices() const override {
    return {{"gemm", gemm_->describe()},
            {"k_order", std::string("own shard first, then rank+1 and on; replicated KV heads last")},
            {"shards", static_cast<std::int64_t>(shard_columns_.size())}};
  }

 private:
  static std::size_t ready(int rank) { return static_cast<std::size_t>(2 * rank); }
  static std::size_t read(int rank) { return static_cast<std::size_t>(2 * rank + 1); }

  void wait(std::size_t flag, int peer, const char* step) {
    // Two pointers' worth of capture fit into std::function without an allocation.
    const Missing missing{this, peer, step};
    flags_->wait(flag, epoch_, [&missing] { return missing.in_words(); });
  }

  struct Missing {
    const Fused* fused;
    int peer;
    const char* step;
    std::string in_words() const {
      return fmt::format("rank {} has not {} launch {} of {}, on which rank {} waits", peer, step, fused->epoch_,
                         fused->operands_.operation().name, fused->rank_);
    }
  };

  Operands& operands_;
  int rank_, P_;
  std::uint64_t epoch_ = 0;
  std::vector<std::int64_t> shard_columns_;
  std::unique_ptr<HostGemm> gemm_;
  std::unique_ptr<comm::PeerMemory> flags_;
  HeadSource source_;
};

core::Reason infeasible(const Operation&, const core::Problem& problem, const Context& context) {
  if (auto why = unsound(problem, context)) return why;
  return context.communicator.no_peer_memory();
}

}  // namespace

constinit const Arm a2a_gemm_fused_arm{
    .name = "fused",
    .doc = "the GEMM reads the heads of every rank where they lie, its own first",
    .kind = Kind::a2a_to_gemm,
    .bound = false,
    .infeasible = infeasible,
    .prepare = [](Operands& operands, const Context& context) -> std::unique_ptr<PreparedOperation> {
      return std::make_unique<Fused>(operands, context);
    },
    .workspace_bytes =
        [](const Operation& op, const core::Problem& problem, std::string_view provider) {
          return gemm_bytes(op, problem, provider, HeadSource::shard_columns(op, problem)) +
                 HeadSource::staging_bytes(op, problem);
        }};

}  // namespace megaup::ops
