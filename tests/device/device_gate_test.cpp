#include <fake_device.hpp>

#include <mutex>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/ops/gate.hpp>
#include <megaup/ops/structure_check.hpp>

/// The gate and the operands where the tensors live on a device.
namespace megaup {
namespace {

using Catch::Matchers::ContainsSubstring;

const core::Problem kProblem{.P = 2, .B = 2, .s = 20, .H = 64, .Hq = 4, .Hk = 2, .D = 16};
constexpr ops::InputKey kKey{.seed = 5};

/// Verdict of the gate for one operation, and the damages that its self-test did not see.
struct Outcome {
  ops::Verdict verdict;
  std::vector<std::string> unseen;
};

Outcome checked(const ops::Operation& operation, const fake::Misdeed* misdeed = nullptr) {
  Outcome outcome;
  fake::on_fake_devices(2, [&](fake::FakeWorld& world) {
    ops::Operands operands(operation, kProblem, world, 0, 3);
    const auto arm = fake::prepare_fake(operands, {.communicator = world}, misdeed);
    const auto verdict = ops::check_arm(*arm, operands, world, kKey);
    const auto unseen = misdeed == nullptr ? ops::self_test(*arm, operands, world, kKey) : std::vector<std::string>();
    if (world.rank() == 0) outcome = {verdict, unseen};
    world.barrier();
  });
  return outcome;
}

TEST_CASE("the gate lets a right arm of a device pass, and sees every damage") {
  for (const ops::Operation* operation : ops::operations()) {
    CAPTURE(operation->name);
    const Outcome outcome = checked(*operation);
    CHECK(outcome.verdict.why == "");
    CHECK(outcome.verdict.error_frobenius > 0);
    CHECK(outcome.unseen == std::vector<std::string>{});
  }
}

TEST_CASE("operands take of the device what they announce, and give it back") {
  for (const ops::Operation* operation : ops::operations())
    fake::on_fake_devices(2, [&](fake::FakeWorld& world) {
      {
        const ops::Operands operands(*operation, kProblem, world);
        fake::expect(world.fake().allocated() + world.peer_bytes() == ops::Operands::bytes(*operation, kProblem),
                     "what operands announce is what they allocate");
      }
      fake::expect(world.fake().allocated() == 0, "the device has its memory again");
    });
}

TEST_CASE("a pass of the gate costs one copy of its inputs in and one of the output back, of pinned memory") {
  fake::on_fake_devices(2, [&](fake::FakeWorld& world) {
    const fake::FakeDevice& device = world.fake();
    for (const ops::Operation* operation : ops::operations()) {
      ops::Operands operands(*operation, kProblem, world);
      const auto arm = fake::prepare_fake(operands, {.communicator = world});
      ops::fill_inputs(operands, kKey);
      const auto expected = ops::expected_output(operands, kKey);
      const int in = device.copies_in, out = device.copies_out;
      const auto verdict = ops::check_arm(*arm, operands, world, expected);
      const auto passes =
          static_cast<int>(ops::structure_passes(*operation, kProblem).size()) + 1;  // and the numeric one
      fake::expect(verdict.passed(), verdict.why);
      fake::expect(device.copies_in - in == 2 * passes, "weight and activations once for each pass");
      fake::expect(device.copies_out - out == passes, "the output once for each pass");
      fake::expect(device.unpinned_copies == 0, "pinned memory");
      world.barrier();
    }
    fake::expect(!device.holds_pinned(), "that operands unpin what they pinned");
  });
}

TEST_CASE("one element that is wrong on the device alone is found, with its rank") {
  const fake::Misdeed wrong{.on_device = [](ops::Operands& operands, int rank, std::int64_t) {
    if (rank == 1) operands.device_hidden().row(3)[5] = core::Bf16::from_float(1e4f);
  }};
  const Outcome outcome = checked(*ops::find_operation("out_fwd"), &wrong);
  CHECK_THAT(outcome.verdict.why, ContainsSubstring("on rank 1") && ContainsSubstring("row 3 column 5"));
}

TEST_CASE("what a launch left from the last one is not taken for its result") {
  const fake::Misdeed lazy{.on_device = [](ops::Operands& operands, int rank, std::int64_t) {
    for (std::int64_t row = 0; rank == 0 && row < 2; ++row)  // never written
      std::fill_n(operands.device_hidden().row(row), operands.device_hidden().columns, core::Bf16{0xffff});
  }};
  CHECK_THAT(checked(*ops::find_operation("qkv_dgrad"), &lazy).verdict.why, ContainsSubstring("nothing was written"));
}

TEST_CASE("a fault of one rank's launch is thrown on all ranks, which stay in step") {
  const fake::Misdeed late{.fault = [](int rank, std::int64_t launches) {
    return rank == 1 && launches > 0 ? core::Reason("rank 0 has not come in time") : core::Reason();
  }};
  int thrown = 0;
  std::mutex mutex;
  fake::on_fake_devices(2, [&](fake::FakeWorld& world) {
    ops::Operands operands(*ops::find_operation("out_dgrad"), kProblem, world);
    const auto arm = fake::prepare_fake(operands, {.communicator = world}, &late);
    try {
      ops::check_arm(*arm, operands, world, kKey);
    } catch (const ops::LaunchFault& fault) {
      const std::lock_guard lock(mutex);
      thrown += std::string_view(fault.what()) == "rank 0 has not come in time" && fault.rank() == 1;
    }
    world.barrier();
  });
  CHECK(thrown == 2);
}

}  // namespace
}  // namespace megaup
