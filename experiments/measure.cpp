#include <megaup/experiments/measure.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/buffer.hpp>
#include <megaup/experiments/agreement.hpp>
#include <megaup/experiments/device_timing.hpp>
#include <megaup/experiments/devices.hpp>
#include <megaup/experiments/environment.hpp>
#include <megaup/experiments/first_blocks.hpp>
#include <megaup/experiments/plan_memory.hpp>
#include <megaup/experiments/process_memory.hpp>
#include <megaup/experiments/sequence.hpp>
#include <megaup/experiments/timing.hpp>
#include <megaup/ops/arm.hpp>
#include <megaup/ops/gate.hpp>

namespace megaup::experiments {
namespace {

constexpr double kNotTaken = std::numeric_limits<double>::quiet_NaN();

/// Cores of one rank: what it is bound to, or its equal part of the node when nothing binds it.
int threads_per_rank(const comm::Placement& placement, int hardware_cores) {
  const int usable = usable_cores();
  return usable < hardware_cores ? usable : std::max(1, usable / placement.ranks_on_node);
}

/// One operation of the cell with its operands and what was chosen for it; `at` is its place on the record's axis.
struct Task {
  std::size_t at;
  const ops::Operation* operation;
  std::unique_ptr<ops::Operands> operands;
  std::string provider;
};

class CellRun {
 public:
  CellRun(const Plan& plan, const Cell& cell, comm::Communicator& world, const ops::ArmLookup& find_arm, const Stopping& stopping,
          const std::atomic<bool>& stop)
      : plan_(plan),
        cell_(cell),
        world_(world),
        find_arm_(find_arm),
        stopping_(stopping),
        group_(world.split(world.rank() / static_cast<int>(cell.problem.P))),
        deadline_(world, stop, plan.spec.measure.cell_timeout_s),
        arms_(plan.spec.arms.all()),
        record_(blank_cell(plan, cell, timed_ranks(plan, world.size()))) {
    if (world.device() != nullptr) on_device_.emplace(world, plan.spec.measure, plan.spec.backend);
  }

  core::CellRecord run() {
    try {
      taking("prepare_s", [&] { prepare(); });
      taking("gate_s", [&] { validate(); });
      taking("blocks_s", [&] { measure(); });
      record_.status = "measured";
    } catch (const AgreedError& error) {
      if (error.kind() == core::ErrorKind::stopped) throw;
      record_.status = "failed";
      record_.reason = error.rank() >= 0 && world_.size() > 1 ? fmt::format("rank {}: {}", error.rank(), error.what()) : error.what();
      if (error.kind() == core::ErrorKind::validation) record_.extra["failed_in"] = std::string("validation");
    }
    return std::move(record_);
  }

 private:
  /// Stores the seconds of a phase of the cell, by rank 0's clock.
  template <class Phase>
  void taking(const char* name, const Phase& phase) {
    const auto begin = std::chrono::steady_clock::now();
    phase();
    record_.extra[name] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  ops::Context context(const Task& task) const {
    const Backend& backend = plan_.spec.backend;
    return {*group_,      threads_,    task.provider, plan_.spec.measure.duty, device_patience(plan_.spec),
            backend.push, backend.pull, backend.solo};
  }

  void prepare() {
    const auto placement = world_.placement();
    threads_ = threads_per_rank(placement, hardware_cores());
    record_.extra["threads_per_rank"] = std::int64_t{threads_};
    record_.extra["oversubscribed"] = std::int64_t{placement.oversubscribed};
    record_.extra["fabric"] = std::string(group_->fabric());
    if (const auto* device = world_.device())
      record_.extra["devices"] = fmt::format("{}", fmt::join(world_.all_gather(std::string_view(device->describe())), "; "));
    core::give_back_freed_memory();
    if (!on_device_ && (world_.backend() != "threads" || world_.rank() == 0)) memory_.emplace();  // one watch a process
    world_.barrier();  // ranks of one process allocate only after all have looked
    // Before the operands: the candidates of the choice are as large as the operands of an operation.
    for (const auto& name : plan_.spec.operations)
      if (name != kSequence) providers_[name] = shared_provider(*ops::find_operation(name));
    end_phase();
    for (std::size_t o = 0; o < plan_.spec.operations.size(); ++o) {
      const auto& name = plan_.spec.operations[o];
      if (name == kSequence) continue;  // it runs the tasks of the others
      Task task{o, ops::find_operation(name), nullptr, providers_[name]};
      for (const auto& arm : arms_) {
        if (find_arm_(plan_.spec.arms.row(arm), task.operation->kind) == nullptr)
          agree(world_, core::ErrorKind::cell, fmt::format("there is no {} for {} on device: {}", arm, name, experiments::name(plan_.spec.backend.device)));
        const auto reason = row(arm, task).infeasible(*task.operation, cell_.problem, context(task));
        agree(world_, core::ErrorKind::cell, reason ? core::Reason(fmt::format("{} cannot do {}: {}", arm, name, *reason)) : std::nullopt);
      }
      task.operands = in_step([&] { return std::make_unique<ops::Operands>(*task.operation, cell_.problem, *group_, 0, threads_); });
      ops::fill_inputs(*task.operands, first_key());
      store_statistics(name, ops::input_statistics(*task.operands));
      record_.extra[fmt::format("{}_gemm_provider", name)] = task.provider;
      tasks_.push_back(std::move(task));
    }
    deadline_.check();
  }

  ops::InputKey first_key() const { return {plan_.spec.validate.seed, 0}; }

  /// Every rank and every arm must multiply the same way, or the arms would differ by more than what is compared.
  std::string shared_provider(const ops::Operation& op) {
    return on_device_ ? "cublaslt" : ops::choose_gemm_provider(op, cell_.problem, {world_, threads_, "auto"});
  }

  void store_statistics(const std::string& operation, const ops::InputStatistics& statistics) {
    record_.extra[fmt::format("{}_input_zero_fraction", operation)] = statistics.zero_fraction;
    record_.extra[fmt::format("{}_input_std", operation)] = statistics.standard_deviation;
    core::Reason constant;
    if (!(statistics.standard_deviation > 0.1) || statistics.zero_fraction > 0.5)
      constant = fmt::format("{}: constant input (standard deviation {}, zero fraction {}): its times would be too fast", operation,
                             statistics.standard_deviation, statistics.zero_fraction);
    agree(world_, core::ErrorKind::cell, constant);
  }

  const ops::Arm& row(const std::string& arm, const Task& task) const { return *find_arm_(plan_.spec.arms.row(arm), task.operation->kind); }

  std::unique_ptr<ops::PreparedOperation> prepare_arm(const std::string& arm, Task& task) {
    core::give_back_freed_memory();
    return in_step([&] { return row(arm, task).prepare(*task.operands, context(task)); });
  }

  void validate() {
    for (auto& task : tasks_) {
      const auto expected = ops::expected_output(*task.operands, first_key());  // as prepare() filled them
      for (std::size_t a = 0; a < arms_.size(); ++a) {
        if (row(arms_[a], task).bound) continue;
        auto prepared = prepare_arm(arms_[a], task);
        for (const auto& [choice, value] : prepared->choices())
          record_.extra[fmt::format("{}_{}_{}", task.operation->name, arms_[a], choice)] = value;
        store_verdict(task.at, a, in_step([&] { return ops::check_arm(*prepared, *task.operands, *group_, expected); }));
        if (!self_tested_) {
          taking("self_test_s", [&] {
            const auto unseen = in_step([&] { return ops::self_test(*prepared, *task.operands, *group_, expected); });
            agree(world_, core::ErrorKind::validation,
                  unseen.empty() ? std::nullopt : core::Reason(fmt::format("the check itself is blind to: {}", fmt::join(unseen, ", "))));
          });
          self_tested_ = true;
        }
        deadline_.check();
        world_.barrier();
        end_phase();
      }
    }
  }

  /// An error that the ranks of a group agree on (a launch of a device that went wrong, an exchange that cannot be made)
  /// is made one of all ranks.
  template <class Check>
  std::invoke_result_t<const Check&> in_step(const Check& check) {
    std::optional<std::invoke_result_t<const Check&>> result;
    core::Reason fault;
    try {
      result = check();
    } catch (const comm::GroupError& error) {
      fault = error.what();
    }
    agree(world_, core::ErrorKind::cell, fault);
    return *std::move(result);
  }

  void store_verdict(std::size_t o, std::size_t a, const ops::Verdict& verdict) {
    const std::size_t at = o * arms_.size() + a;
    record_.error_frobenius[at] = verdict.error_frobenius;
    record_.error_max[at] = verdict.error_max;
    record_.error_bound[at] = verdict.error_bound;
    record_.extra["validation_rows"] = verdict.rows_checked;
    core::Reason reason;
    if (!verdict.passed()) reason = fmt::format("validation: {}, {}: {}", plan_.spec.operations[o], arms_[a], verdict.why);
    agree(world_, core::ErrorKind::validation, reason);
  }

  void measure() {
    std::optional<CacheFlush> flush;
    if (plan_.spec.measure.cache == Cache::cold && !on_device_) flush.emplace();
    if (on_device_) on_device_->begin();
    Observing how{world_, deadline_, plan_.spec.measure, flush ? &*flush : nullptr, {}, {}};
    store_harness_overhead(how);
    if (const auto& stop = plan_.spec.measure.stop) record_.extra["stop_looks"] = static_cast<std::int64_t>(stopping_.looks(*stop).size());
    mine_.assign(record_.latency.size() / static_cast<std::size_t>(record_.ranks), kNotTaken);
    if (plan_.spec.measure.burn_in)
      for (const auto kind : {std::uint8_t{0}, std::uint8_t{1}}) measure_round(how, kind, std::nullopt);
    std::size_t blocks = 0;
    do {
      measure_round(how, record_.order[blocks], blocks);
      ++blocks;
    } while (blocks < record_.order.size() && !may_end(blocks));
    gather();
    if (on_device_) log_.gather(world_, record_, plan_.spec.backend.share_device);
    record_ = first_blocks(record_, blocks);
    store_peak_memory();
  }

  /// Every operation and arm once, in the order of that kind of block. Times are kept as those of `block`, or not at all.
  void measure_round(const Observing& how, std::uint8_t kind, std::optional<std::size_t> block) {
    std::vector<std::size_t> operations(record_.operations.size()), arms(arms_.size());
    std::iota(operations.begin(), operations.end(), std::size_t{0});
    std::iota(arms.begin(), arms.end(), std::size_t{0});
    if (kind != 0) {  // reversed: arms and operations in the opposite order
      std::ranges::reverse(operations);
      std::ranges::reverse(arms);
    }
    const std::size_t together = plan_.spec.measure.schedule == Schedule::interleaved ? arms.size() : 1;
    for (const auto o : operations)
      for (std::size_t a = 0; a < arms.size(); a += together) measure_arms(how, o, std::span(arms).subspan(a, together), block);
  }

  /// Arms are prepared anew for their block, so that no more workspace exists than is used and every block is a fresh one.
  void measure_arms(Observing how, std::size_t o, std::span<const std::size_t> arms, std::optional<std::size_t> block) {
    std::vector<Launch> launches;
    std::vector<std::function<void()>> runs;
    for (const auto a : arms) launches.push_back(prepare_launch(o, a));
    for (auto& launch : launches)
      runs.emplace_back([&launch] {
        for (auto& part : launch.parts) part.prepared->run();
      });
    if (plan_.spec.validate.mode == ValidateMode::every) check_every_launch(how, o, launches);
    const auto times = time(how, runs);
    if (on_device_) check_launches(launches);
    for (std::size_t i = 0; block && i < arms.size(); ++i) store_block((o * arms_.size() + arms[i]) * record_.order.size() + *block, times[i]);
    world_.barrier();  // no rank destroys what a peer still uses
    end_phase();
  }

  /// Once all ranks are through, and before the arm's memory goes: its peak is what the plan announced.
  void end_phase() {
    if (memory_) memory_->look();
  }

  std::vector<BlockTimes> time(const Observing& how, std::span<const std::function<void()>> runs) {
    return on_device_ ? on_device_->time_blocks(how, runs) : time_blocks(how, runs);
  }

  /// One arm of one operation, ready to run: several parts for the sequence.
  struct Launch {
    std::size_t arm;
    struct Part {
      Task* task;
      bool bound;
      std::unique_ptr<ops::PreparedOperation> prepared;
    };
    std::vector<Part> parts;
  };

  Launch prepare_launch(std::size_t o, std::size_t a) {
    Launch launch{a, {}};
    for (const auto* operation : parts(record_.operations[o])) {
      auto& task = *std::ranges::find(tasks_, operation, &Task::operation);
      launch.parts.push_back({&task, row(arms_[a], task).bound, prepare_arm(arms_[a], task)});
      if (on_device_) on_device_->prepared(*launch.parts.back().prepared);
    }
    return launch;
  }

  /// A device reports what went wrong in a block when it has ended.
  void check_launches(std::vector<Launch>& launches) {
    core::Reason fault = on_device_->fault();
    for (auto& launch : launches)
      for (auto& part : launch.parts)
        if (auto why = part.prepared->fault(); why && !fault)
          fault = fmt::format("{}, {}: {}", part.task->operation->name, arms_[launch.arm], *why);
    agree(world_, core::ErrorKind::cell, fault);
  }

  void store_block(std::size_t at, const BlockTimes& times) {
    if (on_device_) log_.keep(record_, at, times);
    record_.started[at] = times.started_s;
    std::ranges::copy(times.seconds, mine_.begin() + static_cast<std::ptrdiff_t>(at * static_cast<std::size_t>(record_.observations)));
  }

  /// validate: every. New data each launch, so that a result left over from the last launch, or from another arm, cannot pass.
  void check_every_launch(Observing& how, std::size_t o, std::vector<Launch>& launches) {
    const auto key = [this](std::int64_t number) { return ops::InputKey{plan_.spec.validate.seed, static_cast<std::uint64_t>(number)}; };
    how.before = [this, o, key](std::int64_t number) {
      world_.barrier();
      for (auto& task : tasks_)
        if (task.at == o || record_.operations[o] == kSequence) ops::fill_inputs(*task.operands, key(number));
      world_.barrier();
    };
    how.after = [this, key, &launches](std::int64_t number) {
      auto& launch = launches[static_cast<std::size_t>(number) % launches.size()];
      for (auto& [task, bound, prepared] : launch.parts)
        if (!bound) store_verdict(task->at, launch.arm, in_step([&] {
          ops::fetch_outputs(*prepared, *task->operands, *group_);
          return ops::check_output(*prepared, *task->operands, *group_, ops::expected_output(*task->operands, key(number)));
        }));
    };
  }

  /// measure.stop. Asked on rank 0 alone, so that no two ranks can come to different answers.
  bool may_end(std::size_t blocks) {
    const auto& stop = plan_.spec.measure.stop;
    if (!stop || blocks % 2 != 0 || !std::ranges::binary_search(stopping_.looks(*stop), static_cast<std::int64_t>(blocks / 2))) return false;
    gather();
    bool enough = false;
    if (world_.rank() == 0) {
      auto so_far = first_blocks(record_, blocks);
      so_far.status = "measured";
      enough = stopping_.enough(so_far, *stop);
    }
    return world_.any(enough);
  }

  /// What an observation of nothing takes: the clock and the call. Stored, so that a reader can judge short operations.
  void store_harness_overhead(Observing how) {
    how.flush = nullptr;
    const std::function<void()> nothing = [] {};
    auto empty = time(how, {&nothing, 1}).front().seconds;
    if (empty.empty()) return;  // a rank that is not timed
    std::nth_element(empty.begin(), empty.begin() + static_cast<std::ptrdiff_t>(empty.size() / 2), empty.end());
    record_.extra["harness_overhead_s"] = empty[empty.size() / 2];
  }

  void gather() {
    const auto* bytes = reinterpret_cast<const std::byte*>(mine_.data());
    const auto all = world_.all_gather(std::span(bytes, mine_.size() * sizeof(double)));
    const auto* times = reinterpret_cast<const double*>(all.data());
    const auto ranks = static_cast<std::size_t>(record_.ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < mine_.size(); ++i) record_.latency[i * ranks + rank] = times[rank * mine_.size() + i];
  }

  void store_peak_memory() {
    record_.extra["announced_rank_bytes"] = cell_.bytes_per_rank;
    record_.extra["planned_rank_bytes"] = planned_bytes(cell_.problem, plan_.spec, providers_);
    if (on_device_) return;  // these are the device's bytes, and it does not tell what it gave
    const bool unknown = memory_ && !memory_->bytes();
    const auto peaks = world_.all_gather(memory_ && !unknown ? static_cast<double>(*memory_->bytes()) : 0.0);
    if (world_.any(unknown)) return;
    const int ranks_here = world_.backend() == "threads" ? world_.size() : 1;
    record_.extra["peak_rank_bytes"] = static_cast<std::int64_t>(*std::ranges::max_element(peaks)) / ranks_here;
  }

  const Plan& plan_;
  const Cell& cell_;
  comm::Communicator& world_;
  const ops::ArmLookup& find_arm_;
  const Stopping& stopping_;
  std::unique_ptr<comm::Communicator> group_;
  Deadline deadline_;
  std::vector<std::string> arms_;
  core::CellRecord record_;
  std::optional<DeviceTiming> on_device_;
  DeviceLog log_;
  int threads_ = 1;
  bool self_tested_ = false;
  std::optional<PeakMemory> memory_;
  GemmProviders providers_;
  std::vector<Task> tasks_;
  std::vector<double> mine_;  // this rank's part of latency: [operation, arm, block, observation]
};

}  // namespace

core::CellRecord measure_cell(const Plan& plan, const Cell& cell, comm::Communicator& world, const ops::ArmLookup& find_arm,
                              const Stopping& stopping, const std::atomic<bool>& stop) {
  return CellRun(plan, cell, world, find_arm, stopping, stop).run();
}

}  // namespace megaup::experiments
