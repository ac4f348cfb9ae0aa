// An integrator's program: the fused QKV projection on two ranks that are threads of this process.
#include <atomic>
#include <iostream>

#include <megaup/comm/backend.hpp>
#include <megaup/core/version.hpp>
#include <megaup/ops/arm.hpp>

namespace {

void fill(megaup::core::Bf16Matrix matrix, float value) {
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t j = 0; j < matrix.columns; ++j) matrix.row(i)[j] = megaup::core::Bf16::from_float(value);
}

/// Elements of this rank's Q, K and V that are not 32 (r + 1), r being the rank whose token the row is.
int wrong_elements(const megaup::ops::HeadTensors& heads, std::int64_t tokens_per_rank) {
  int wrong = 0;
  for (const auto& tensor : heads.tensor)
    for (std::int64_t i = 0; i < tensor.rows; ++i)
      for (std::int64_t j = 0; j < tensor.columns; ++j)
        wrong += tensor.row(i)[j].to_float() != 32.0f * static_cast<float>(i / tokens_per_rank + 1);
  return wrong;
}

}  // namespace

int main() {
  using namespace megaup;
  std::cout << "megaup " << core::version() << '\n';
  if (core::version() != EXPECTED_VERSION) return 1;

  const core::Problem problem{.P = 2, .B = 1, .s = 4, .H = 64, .Hq = 4, .Hk = 2, .D = 8};
  const ops::Operation* qkv = ops::find_operation("qkv_fwd");
  const ops::Arm* fused = ops::find_arm("fused", ops::Kind::gemm_to_a2a);
  if (!qkv || !fused) return 2;

  std::atomic<int> wrong{0};
  comm::select_backend("threads").launch({.ranks = 2}, [&](comm::Communicator& ranks) {
    const ops::Context context{.communicator = ranks};
    if (const core::Reason why = fused->infeasible(*qkv, problem, context))
      throw core::Error(core::ErrorKind::cell, *why, ranks.rank());
    ops::Operands operands(*qkv, problem, ranks);
    const auto prepared = fused->prepare(operands, context);
    fill(operands.hidden(), static_cast<float>(ranks.rank() + 1));  // X [M, H]
    fill(operands.weight(), 0.5f);                                  // Wqkv [N, H]: each element of the result sums 64
    prepared->run();
    wrong += wrong_elements(operands.heads(prepared->current_set()), problem.s);
  });
  std::cout << "fused qkv_fwd on 2 ranks: " << wrong << " wrong elements\n";
  return wrong == 0 ? 0 : 3;
}
