#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

#include <megaup/comm/backend.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/kokkos_session.hpp>

#include <megaup/tests/allocation/counting_malloc.hpp>

namespace megaup::test {
namespace {

// Two chunks for native_chunked, shards for the fused arm, panels and tiles of more than one for the GEMM.
const core::Problem kProblem{.P = 2, .B = 2, .s = 600, .H = 320, .Hq = 8, .Hk = 4, .D = 64};
constexpr int kWarmUps = 3, kRuns = 4;

/// Of all runs on this rank, after the warm-ups.
Allocations allocations_of(ops::PreparedOperation& prepared) {
  for (int i = 0; i < kWarmUps; ++i) prepared.run();
  Counting counting;
  for (int i = 0; i < kRuns; ++i) prepared.run();
  return counting.stop();
}

TEST_CASE("the counter counts") {
  Counting counting;
  const auto one = std::make_unique<std::vector<int>>(1000);
  const Allocations found = counting.stop();
  CHECK(found.ours == 2);
  CHECK(found.library == 0);
}

TEST_CASE("run() of every host arm allocates nothing, with every GEMM provider") {
  const ops::KokkosSession kokkos;
  std::mutex mutex;
  std::vector<std::string> guilty;
  std::int64_t library = 0;
  comm::select_backend("threads").launch({.ranks = 2}, [&](comm::Communicator& group) {
    for (const ops::Operation* op : ops::operations()) {
      ops::Operands operands(*op, kProblem, group);
      for (const ops::Arm* arm : ops::arms()) {
        if (arm->kind != op->kind || arm->place != ops::Place::host) continue;
        for (const ops::GemmProvider* provider : ops::gemm_providers()) {
          if (provider->infeasible(ops::gemm_shape(*op, kProblem))) continue;
          const auto prepared = arm->prepare(operands, {.communicator = group, .threads = 1, .gemm_provider = std::string(provider->name)});
          group.barrier();
          const Allocations found = allocations_of(*prepared);
          group.barrier();
          const std::lock_guard lock(mutex);
          library += found.library;
          if (found.ours != 0) guilty.push_back(fmt::format("{} {} {}: {} in {} runs", op->name, arm->name, provider->name, found.ours, kRuns));
        }
      }
    }
  });
  for (const std::string& line : guilty) FAIL_CHECK(line);
  WARN("inside oneDNN: " << library << " allocations");
}

}  // namespace
}  // namespace megaup::test
