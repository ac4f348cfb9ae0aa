#include <megaup/ops/bounds.hpp>

#include <megaup/ops/staged_exchange.hpp>

namespace megaup::ops {
namespace {

class ExchangeOnly final : public PreparedOperation {
 public:
  ExchangeOnly(const Operands& operands, const Context& context)
      : exchange_(prepare_exchange(
            context, Reorder(operands.problem(), operands.operation().columns, operands.rank(), context.threads),
            operands.problem().M(), 1)) {}

  void run() override {
    exchange_->start(0);
    exchange_->finish(0);
  }

 private:
  std::unique_ptr<comm::Exchange> exchange_;
};

}  // namespace

std::unique_ptr<PreparedOperation> prepare_exchange_only(Operands& operands, const Context& context) {
  return std::make_unique<ExchangeOnly>(operands, context);
}

std::int64_t exchange_only_bytes(const Operation& op, const core::Problem& problem, std::string_view) {
  return staged_exchange_bytes(op, problem);
}

}  // namespace megaup::ops
