#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <megaup/comm/communicator.hpp>
#include <megaup/core/record.hpp>
#include <megaup/ops/kernel_wish.hpp>
#include <megaup/ops/operands.hpp>
#include <megaup/ops/operation.hpp>
#include <megaup/ops/regime.hpp>

namespace megaup::ops {

/// What an arm is prepared with, made once by the caller and passed down.
struct Context {
  comm::Communicator& communicator;
  int threads = 1;  ///< cores that one rank may use
  std::string gemm_provider =
      "auto";  ///< host GEMM provider by name, or auto: chosen by timing in prepare, the same on all ranks
  Regime regime = Regime::sustained;           ///< how a device is timed: planners of kernels choose by it
  std::chrono::duration<double> patience{20};  ///< of device kernels that wait for a peer
  KernelWish push, pull;  ///< what the fused device arms of gemm_to_a2a and of a2a_to_gemm are asked to run
  bool alone = false;     ///< ranks share a device, but one of them is timed alone on all of it (solo)
};

/// What planners of kernels plan for. Its multiprocessors are the rank's; with `alone` the whole device's also while all
/// ranks are checked on parts of it, so that what is checked is what is timed. Requires a device.
DeviceSetting device_setting(const Context& context);

/// Why no arm can run the problem here: it is refused, or has another number of ranks than the communicator. Nothing =
/// it can.
core::Reason unsound(const core::Problem& problem, const Context& context);

/// The host GEMM provider that every arm of a cell is given: the named one, or for `auto` the one that rank 0 finds
/// fastest for this shape. Ranks: collective.
std::string choose_gemm_provider(const Operation& op, const core::Problem& problem, const Context& context);

/// Where an arm runs. Operands of a communicator with a device live there.
enum class Place : std::uint8_t { host, cuda };

/// One operation done one way, with everything that is set up once (plans, buffers, handles, peer maps). run() is what
/// is timed.
///
/// Ranks   all ranks of the group call run() together; destruction is collective.
///
/// run     reads the inputs of its Operands, writes the outputs; returns when this rank's outputs are complete and its
///         inputs may be changed. No allocation, no barrier among ranks beyond the data it waits for. On a device it
///         only enqueues in the device's stream, waits for nothing on the host, and can be captured in a graph:
///         an even number of runs, replayed after an even number of others, because buffers take turns. fault() of an
///         arm whose buffers do says that a replay was out of turn; its output is then not where current_set() says.
///
/// Output  of gemm_to_a2a: heads(current_set()), valid until the next run() on this rank begins.
///
/// Several prepared operations may share Operands; a barrier belongs between a run of one and a run of another, because
/// a rank that is early writes into the heads of one that is late.
class PreparedOperation {
 public:
  virtual ~PreparedOperation() = default;
  PreparedOperation() = default;
  PreparedOperation(const PreparedOperation&) = delete;
  PreparedOperation& operator=(const PreparedOperation&) = delete;

  virtual void run() = 0;
  virtual int current_set() const { return 0; }
  /// Fills every buffer between input and output (staging, send, receive) with 0xFF, so that a check sees what a run
  /// did not write. Ranks: collective.
  virtual void poison() {}
  /// Device arms: from now on every wait for a peer is over at once, as if all that peers send had come. For `solo`
  /// timing, where rank 0 runs alone; outputs are then no longer right. Not collective.
  virtual void assume_peers_arrived();
  /// After a synchronize(): why the last launches did not end as they should (a peer's flag that did not come in time,
  /// with rank and epoch); nothing on a host, where run() throws.
  virtual core::Reason fault() { return {}; }
  /// What was chosen in prepare, stored with the cell: gemm provider, tile, chunks, ...
  virtual core::Attributes choices() const { return {}; }
};

/// A launch on a device did not end as it should; the same on all ranks of its group, which are still in step.
class LaunchFault : public comm::GroupError {
 public:
  using comm::GroupError::GroupError;
};

/// A row of the table of arms: one way to do every operation of one kind.
struct Arm {
  std::string_view name, doc;
  Kind kind;
  Place place = Place::host;
  bool bound;  ///< a part alone (gemm_only, exchange_only, reorder_only): timed, but its output is not the operation's
  /// Why it cannot run here; nothing = it can. Pure: nothing is allocated.
  core::Reason (*infeasible)(const Operation&, const core::Problem&, const Context&);
  /// Ranks: collective. The Operands must outlive the result. Requires that infeasible() gave no reason.
  std::unique_ptr<PreparedOperation> (*prepare)(Operands&, const Context&);
  /// Bytes that one rank allocates in prepare, beside the Operands, with this GEMM provider: what `plan` announces. For
  /// `auto` the largest answer of all providers.
  std::int64_t (*workspace_bytes)(const Operation&, const core::Problem&, std::string_view gemm_provider);
};

/// All arms, from a table that the linker checks.
std::span<const Arm* const> arms();
/// nullptr when that kind has no arm of that name there.
const Arm* find_arm(std::string_view name, Kind kind, Place place = Place::host);
/// Callers that take an ArmLookup can be given arms of their own (an integrator's, or a test's) beside those of the
/// table.
using ArmLookup = std::function<const Arm*(std::string_view name, Kind kind)>;
/// The arms of the table that run there.
ArmLookup arms_at(Place place);

}  // namespace megaup::ops
