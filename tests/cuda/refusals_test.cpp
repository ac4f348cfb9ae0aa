// What the arms of devices say where there is no device, and what they will allocate. Runs without a GPU.
#include <catch2/catch_test_macros.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/ops/arm.hpp>

namespace megaup::cuda_tests {
namespace {

constexpr core::Problem kProblem{.P = 1, .B = 1, .s = 256, .H = 256, .Hq = 8, .Hk = 4, .D = 64};

TEST_CASE("every kind of operation has its arms on devices") {
  for (const ops::Kind kind : {ops::Kind::gemm_to_a2a, ops::Kind::a2a_to_gemm})
    for (const char* name : {"native_packed", "native_packed_window", "native_packed_zero_cta", "native_packed_ce",
                             "native_pipelined_ce", "native_chunked_ce", "fused", "gemm_only", "exchange_only",
                             "reorder_only"}) {
      INFO(name);
      CHECK(ops::find_arm(name, kind, ops::Place::cuda) != nullptr);
    }
}

TEST_CASE("on a communicator without a device every arm of devices says so") {
  comm::select_backend("self").launch({}, [](comm::Communicator& group) {
    for (const ops::Operation* op : ops::operations())
      for (const ops::Arm* arm : ops::arms()) {
        if (arm->place != ops::Place::cuda || arm->kind != op->kind) continue;
        INFO(arm->name);
        const core::Reason why = arm->infeasible(*op, kProblem, {.communicator = group});
        REQUIRE(why.has_value());
        CHECK(*why == "runs on a CUDA device, and this communicator (self) has none");
      }
  });
}

TEST_CASE("a problem that is refused everywhere is refused for that reason, before the device is asked for") {
  comm::select_backend("self").launch({}, [](comm::Communicator& group) {
    core::Problem bad = kProblem;
    bad.Hq = 7;
    for (const ops::Operation* op : ops::operations())
      for (const ops::Arm* arm : ops::arms())
        if (arm->place == ops::Place::cuda && arm->kind == op->kind)
          CHECK(arm->infeasible(*op, bad, {.communicator = group}) == core::refusal(bad));
  });
}

TEST_CASE("memory of the arms of devices is announced") {
  for (const ops::Operation* op : ops::operations()) {
    const std::int64_t wide = ops::exchange_bytes(*op, kProblem);  // one rank: the slabs are the wide matrix
    const auto bytes = [&](const char* name) {
      return ops::find_arm(name, op->kind, ops::Place::cuda)->workspace_bytes(*op, kProblem, "cublaslt");
    };
    constexpr std::int64_t kCublas = 32 * 1024 * 1024 + 1024;
    CHECK(bytes("gemm_only") == kCublas + wide);
    CHECK(bytes("exchange_only") >= 3 * wide);
    CHECK(bytes("native_packed") > kCublas + 4 * wide);
    for (const char* same : {"native_packed_window", "native_packed_zero_cta", "native_packed_ce"})
      CHECK(bytes("native_packed") == bytes(same));
    CHECK(bytes("native_pipelined_ce") >= bytes("native_packed_ce"));
    CHECK(bytes("reorder_only") > 3 * wide);
  }
}

}  // namespace
}  // namespace megaup::cuda_tests
