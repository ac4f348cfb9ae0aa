#include <cstddef>
#include <memory>

#include <malloc.h>
#include <catch2/catch_test_macros.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/ops/arm_parts.hpp>

extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace megaup::ops {
namespace {

const core::Problem kProblem{.P = 1, .B = 1, .s = 1024, .H = 512, .Hq = 8, .Hk = 8, .D = 64};

/// Bytes that malloc has given out. The address and thread sanitizers have a malloc and a count of their own.
double bytes_in_use() {
  if (__sanitizer_get_current_allocated_bytes) return static_cast<double>(__sanitizer_get_current_allocated_bytes());
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Bytes that making (and keeping) something takes, once libraries have made what they keep anyway.
template <class Make>
double bytes_of(const Make& make) {
  make();
  const double before = bytes_in_use();
  const auto made = make();
  return bytes_in_use() - before;
}

constexpr double kSmall = 300e3;  // tables, descriptors, pages of flags

void check_within_a_tenth(double allocated, double announced) {
  INFO("allocates " << allocated << ", announces " << announced);
  CHECK(allocated > 0.9 * announced - kSmall);
  CHECK(allocated < 1.1 * announced + kSmall);
}

// The GEMM's part is left out: a library takes some of it only while it multiplies.
TEST_CASE("operands and arms announce the bytes that they allocate, within a tenth") {
  comm::select_backend("self").launch({.ranks = 1}, [](comm::Communicator& group) {
    for (const Operation* op : operations()) {
      INFO(op->name);
      check_within_a_tenth(bytes_of([&] { return std::make_unique<Operands>(*op, kProblem, group); }),
                           static_cast<double>(Operands::bytes(*op, kProblem)));
      Operands operands(*op, kProblem, group);
      const std::string provider = choose_gemm_provider(*op, kProblem, {.communicator = group});
      const Context context{.communicator = group, .gemm_provider = provider};
      const double gemm = bytes_of([&] { return prepare_gemm(operands, context); });
      for (const Arm* arm : arms()) {
        if (arm->kind != op->kind || arm->place != Place::host) continue;
        INFO(arm->name << " with " << provider);
        const bool multiplies = arm->name != "exchange_only" && arm->name != "reorder_only";
        const std::int64_t announced = arm->workspace_bytes(*op, kProblem, provider);
        check_within_a_tenth(bytes_of([&] { return arm->prepare(operands, context); }) - (multiplies ? gemm : 0),
                             static_cast<double>(announced - (multiplies ? gemm_bytes(*op, kProblem, provider) : 0)));
        CHECK(arm->workspace_bytes(*op, kProblem, "auto") >= announced);
      }
    }
  });
}

}  // namespace
}  // namespace megaup::ops
