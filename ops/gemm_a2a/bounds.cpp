#include <megaup/ops/bounds.hpp>
#include <megaup/ops/gemm_a2a/native.hpp>
#include <megaup/ops/matrix_sink.hpp>
#include <megaup/ops/matrix_source.hpp>

namespace megaup::ops {

extern constinit const Arm gemm_a2a_gemm_only_arm;
extern constinit const Arm gemm_a2a_exchange_only_arm;
extern constinit const Arm gemm_a2a_reorder_only_arm;

namespace {

class GemmOnly final : public PreparedOperation {
 public:
  GemmOnly(Operands& operands, const Context& context)
      : operands_(operands), gemm_(prepare_gemm(operands, context)), wide_(operands, operands.problem().M()) {}

  void run() override {
    MatrixSource x(operands_.hidden());
    MatrixSink y(wide_.matrix());
    gemm_->run(x, operands_.weight(), y);
  }
  core::Attributes choices() const override { return {{"gemm", gemm_->describe()}}; }

 private:
  Operands& operands_;
  std::unique_ptr<HostGemm> gemm_;
  WideBuffer wide_;
};

/// Pack and unpack of native_packed on buffers of their own: nothing crosses between ranks.
class ReorderOnly final : public PreparedOperation {
 public:
  ReorderOnly(Operands& operands, const Context& context)
      : operands_(operands),
        rows_{0, operands.problem().M(), operands.problem().M()},
        wide_(operands, rows_.count),
        reorder_(operands.problem(), operands.operation().columns, operands.rank(), context.threads),
        send_(slabs_bytes()),
        recv_(slabs_bytes()) {}

  void run() override {
    reorder_.wide_to_slabs(send_.as<core::Bf16>(), wide_.matrix(), rows_);
    reorder_.slabs_to_heads(operands_.heads(), recv_.as<core::Bf16>(), rows_);
  }

 private:
  std::size_t slabs_bytes() const {
    return static_cast<std::size_t>(operands_.problem().P * reorder_.slab_bytes(rows_.count));
  }

  Operands& operands_;
  RowRange rows_;
  WideBuffer wide_;
  Reorder reorder_;
  core::Buffer send_, recv_;
};

std::int64_t gemm_only_bytes(const Operation& op, const core::Problem& problem, std::string_view provider) {
  return gemm_bytes(op, problem, provider) + WideBuffer::bytes(op, problem, problem.M());
}

std::int64_t reorder_only_bytes(const Operation& op, const core::Problem& problem, std::string_view) {
  return WideBuffer::bytes(op, problem, problem.M()) + staged_exchange_bytes(op, problem);
}

}  // namespace

constinit const Arm gemm_a2a_gemm_only_arm{
    .name = "gemm_only",
    .doc = "the GEMM into a wide matrix, nothing else",
    .kind = Kind::gemm_to_a2a,
    .bound = true,
    .infeasible = gemm_a2a::native_infeasible,
    .prepare = [](Operands& operands, const Context& context) -> std::unique_ptr<PreparedOperation> {
      return std::make_unique<GemmOnly>(operands, context);
    },
    .workspace_bytes = gemm_only_bytes};

constinit const Arm gemm_a2a_exchange_only_arm{.name = "exchange_only",
                                               .doc = "one packed exchange of the operation's bytes, nothing else",
                                               .kind = Kind::gemm_to_a2a,
                                               .bound = true,
                                               .infeasible = gemm_a2a::native_infeasible,
                                               .prepare = prepare_exchange_only,
                                               .workspace_bytes = exchange_only_bytes};

constinit const Arm gemm_a2a_reorder_only_arm{
    .name = "reorder_only",
    .doc = "pack and unpack of native_packed, nothing else",
    .kind = Kind::gemm_to_a2a,
    .bound = true,
    .infeasible = gemm_a2a::native_infeasible,
    .prepare = [](Operands& operands, const Context& context) -> std::unique_ptr<PreparedOperation> {
      return std::make_unique<ReorderOnly>(operands, context);
    },
    .workspace_bytes = reorder_only_bytes};

}  // namespace megaup::ops
