#include <megaup/ops/a2a_gemm/native.hpp>

#include <megaup/ops/matrix_sink.hpp>
#include <megaup/ops/matrix_source.hpp>

namespace megaup::ops::a2a_gemm {
namespace {

class Native final : public PreparedOperation {
 public:
  Native(Operands& operands, const Context& context, const std::vector<OnlyKind>& parts)
      : operands_(operands),
        gemm_(prepare_gemm(operands, context)),
        wide_(operands, operands.problem().M()),
        exchange_(operands, context, parts) {}

  void run() override {
    exchange_.heads_to_wide(wide_.matrix(), operands_.heads());
    MatrixSource a(wide_.matrix());    // [M, W]
    MatrixSink c(operands_.hidden());  // [M, H]
    gemm_->run(a, operands_.weight(), c);
  }

  void poison() override {
    wide_.poison();
    exchange_.poison();
  }

  core::Attributes choices() const override {
    return {{"gemm", gemm_->describe()}, {"exchanges", exchange_.exchanges()}};
  }

 private:
  Operands& operands_;
  std::unique_ptr<HostGemm> gemm_;
  WideBuffer wide_;
  StagedExchange exchange_;
};

}  // namespace

core::Reason native_infeasible(const Operation&, const core::Problem& problem, const Context& context) {
  return unsound(problem, context);
}

std::unique_ptr<PreparedOperation> prepare_native(Operands& operands, const Context& context,
                                                  const std::vector<OnlyKind>& parts) {
  return std::make_unique<Native>(operands, context, parts);
}

std::int64_t native_bytes(const Operation& op, const core::Problem& problem, std::string_view gemm_provider) {
  return gemm_bytes(op, problem, gemm_provider) + WideBuffer::bytes(op, problem, problem.M()) +
         staged_exchange_bytes(op, problem);
}

}  // namespace megaup::ops::a2a_gemm
