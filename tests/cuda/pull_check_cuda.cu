/// Checks every pull kernel on one device: bit for bit against the plain GEMM of the same kernel over an A that was
/// gathered element by element, on every layout; and several ranks at once that wait for each other.
///   megaup_cuda_pull_check [small | tiny]      kernel_checks_cuda.cuh says what these are, and what it returns
#include <memory>
#include <string>
#include <vector>

#include <kernel_checks_cuda.cuh>
#include <pull_case_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

std::string label(const PullCase& c) { return in_words(c.world.operation, c.world.problem, c.rank); }

/// One kernel, `launches` times with new data each.
void check_kernel(const PullCase& c, const ops::CompiledPull& kernel, int swizzle, const ops::PullMoves& moves,
                  int launches, Tally& tally) {
  const std::string what = std::string(kernel.name) + "/N" + std::to_string(swizzle) + " units " +
                           std::to_string(moves.first_unit) + "," + std::to_string(moves.unit) + " " + label(c);
  c.reset_local();
  c.world.reset_flags();
  c.world.assume_arrived(c.rank);
  const auto pull = kernel.pull(c.gemm(swizzle), c.map(), moves, c.pull_heads(), c.flags());
  for (int launch = 0; launch < launches; ++launch) {
    if (launch > 0) {
      c.world.randomise_for(c.rank, 1000 + static_cast<std::uint64_t>(launch));
      c.gather();
    }
    c.poison();
    pull->run(nullptr);
    check(cudaDeviceSynchronize(), what.c_str());
    c.compute_expected(kernel, swizzle);
    const std::int64_t wrong = c.mismatches();
    tally.expect(wrong == 0, what + " launch " + std::to_string(launch) + ": " + std::to_string(wrong) + " elements");
    const double error = c.worst_error();
    tally.expect(error <= 1.0, what + ": error over bound " + std::to_string(error));
  }
  const std::string fault = c.fault(static_cast<std::uint32_t>(launches));
  tally.expect(fault.empty(), what + ": " + fault);
}

void check_case(const ops::Operation& operation, const core::Problem& problem, std::int64_t rank, int launches,
                Tally& tally, ops::ShardOrder shards = ops::ShardOrder::own_first) {
  if (core::refusal(problem) || ops::pull_refusal(problem, operation.columns)) {
    ++tally.refusals;
    return;
  }
  const PullWorld world(operation, problem);
  const PullCase c(world, rank, shards);
  c.randomise_weight(5);
  for (const ops::CompiledPull* compiled : of_this_device(ops::compiled_pulls())) {
    const ops::CompiledPull& kernel = *compiled;
    if (kernel.weight_transposed != c.shape.weight_transposed) continue;
    world.randomise_for(rank, 1);
    c.gather();
    ops::PullMoves moves{};
    int swizzle = 1;
    for (const auto& candidate : c.plan(ops::Regime::sustained).candidates)
      if (candidate.kernel->name == kernel.name) moves = candidate.moves, swizzle = candidate.swizzle;
    if (moves.block_rows == 0) continue;  // its tiles are higher than the runs of rows
    check_kernel(c, kernel, swizzle, moves, launches, tally);
    world.randomise_for(rank, 1);
    c.gather();
    moves.unit = 4096;  // other orders and sizes of what is moved
    moves.first_unit = 2048;
    moves.group_rows = moves.block_rows;
    check_kernel(c, kernel, 4, moves, 1, tally);
  }
}

/// Each damage must be seen by the check that is there for it: a check that cannot fail proves nothing.
void check_the_checks(Tally& tally) {
  const PullWorld world(*ops::find_operation("qkv_dgrad"),
                        {.P = 4, .B = 1, .s = 512, .H = 256, .Hq = 16, .Hk = 8, .D = 128});
  const PullCase c(world, 1);
  const ops::CompiledPull* kernel = nullptr;
  for (const ops::CompiledPull* row : of_this_device(ops::compiled_pulls()))
    if (row->weight_transposed == c.shape.weight_transposed) kernel = row;
  const ops::PullMoves moves = c.plan(ops::Regime::sustained).chosen().moves;
  c.randomise_weight(3);
  world.randomise_for(1, 3);
  c.gather();
  c.compute_expected(*kernel, 1);
  world.assume_arrived(1);
  const auto wrong_after = [&](const ops::PullMap& map, const ops::PullHeads& heads, const ops::PullFlags& flags) {
    c.poison();
    kernel->pull(c.gemm(1), map, moves, heads, flags)->run(nullptr);
    check(cudaDeviceSynchronize(), "damaged pull");
    return c.mismatches();
  };
  auto map = c.map();
  std::swap(map.segments[0].from, map.segments[3].from);  // the query heads of two groups
  tally.expect(wrong_after(map, c.pull_heads(), c.flags()) > 0, "swapped heads were not seen");
  map = c.map();
  map.tile_shift[0] += 1;  // rows of another rank
  tally.expect(wrong_after(map, c.pull_heads(), c.flags()) > 0, "shifted rows were not seen");
  auto heads = c.pull_heads();
  std::swap(heads.base[0], heads.base[9]);  // rank 0 and rank 3
  tally.expect(wrong_after(c.map(), heads, c.flags()) > 0, "two swapped ranks were not seen");
  tally.expect(wrong_after(c.map(), c.pull_heads(), c.flags()) == 0, "the sound pull");
  check(cudaMemset(static_cast<std::uint16_t*>(c.c.data()) + 7, 0, 2), "damage");
  tally.expect(c.mismatches() == 1, "one overwritten element was not seen");

  for (const int word : {2, 4 + 3}) {  // rank 2 is never ready; rank 3 has never read
    c.reset_local();
    world.reset_flags();
    world.assume_arrived(1);
    auto flags = c.flags();
    flags.timeout_ns = 20'000'000;
    check(cudaMemset(flags.peers[1] + word, 0, 4), "a flag that does not come");
    wrong_after(c.map(), c.pull_heads(), flags);
    const std::string expected = word == 2 ? ops::pull_fault(3) : ops::pull_fault(0x204);
    tally.expect(c.fault(1) == expected, "a missing peer was reported as '" + c.fault(1) + "'");
  }
}

__global__ void busy(std::uint64_t ns) {
  std::uint64_t now, end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  end += ns;
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now < end);
}

/// All ranks at once, each in its own stream on its share of the SMs, with new heads in every launch: a peer that is
/// late must be waited for, and no rank may change heads that others still read.
void check_group(const char* operation, const core::Problem& problem, const ops::CompiledPull& kernel, Tally& tally) {
  constexpr int kLaunches = 50, kSets = 3, kSmsForOthers = 4;
  const PullWorld world(*ops::find_operation(operation), problem);
  std::vector<std::unique_ptr<PullCase>> ranks;
  std::vector<cudaStream_t> streams(static_cast<std::size_t>(problem.P));
  std::vector<std::vector<Memory>> expected(streams.size()), sets(kSets);
  const Memory counts(8 * problem.P);
  counts.fill(0);
  for (std::int64_t r = 0; r < problem.P; ++r) {
    ranks.push_back(std::make_unique<PullCase>(world, r));
    PullCase& c = *ranks.back();
    c.sms = static_cast<int>((c.sms - kSmsForOthers) / problem.P / 2 * 2);
    c.randomise_weight(40 + static_cast<std::uint64_t>(r));
    check(cudaStreamCreateWithFlags(&streams[static_cast<std::size_t>(r)], cudaStreamNonBlocking), "stream");
  }
  for (int set = 0; set < kSets; ++set) {
    world.randomise(static_cast<std::uint64_t>(100 * set + 9));
    for (const Memory& tensor : world.tensors) {
      sets[static_cast<std::size_t>(set)].emplace_back(tensor.bytes());
      check(cudaMemcpy(sets[static_cast<std::size_t>(set)].back().data(), tensor.data(),
                       static_cast<std::size_t>(tensor.bytes()), cudaMemcpyDeviceToDevice),
            "input set");
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r]->gather();
      ranks[r]->compute_expected(kernel, 1);
      expected[r].emplace_back(ranks[r]->c.bytes());
      check(cudaMemcpy(expected[r].back().data(), ranks[r]->expected.data(),
                       static_cast<std::size_t>(ranks[r]->c.bytes()), cudaMemcpyDeviceToDevice),
            "expected");
    }
  }
  std::vector<std::unique_ptr<ops::PreparedKernel>> pulls;
  for (const auto& c : ranks)
    pulls.push_back(
        kernel.pull(c->gemm(1), c->map(), c->plan(ops::Regime::sustained).chosen().moves, c->pull_heads(), c->flags()));
  check(cudaDeviceSynchronize(), "preparation");
  for (int launch = 0; launch < kLaunches; ++launch)
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto& set = sets[static_cast<std::size_t>(launch % kSets)];
      if (r == 1 && (launch == 6 || launch == 7)) busy<<<1, 1, 0, streams[r]>>>(50'000'000);
      for (std::size_t home = r * 3; home < r * 3 + 3; ++home)
        check(cudaMemcpyAsync(world.tensors[home].data(), set[home].data(), static_cast<std::size_t>(set[home].bytes()),
                              cudaMemcpyDeviceToDevice, streams[r]),
              "new heads");
      pulls[r]->run(streams[r]);
      add_differences(ranks[r]->c.data(), expected[r][static_cast<std::size_t>(launch % kSets)].data(),
                      ranks[r]->c.bytes(), static_cast<unsigned long long*>(counts.data()) + r, streams[r]);
    }
  check(cudaDeviceSynchronize(), "group");
  std::vector<unsigned long long> wrong(ranks.size());
  check(cudaMemcpy(wrong.data(), counts.data(), wrong.size() * 8, cudaMemcpyDeviceToHost), "comparison");
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::string what =
        "group of " + std::to_string(problem.P) + " " + std::string(kernel.name) + " " + label(*ranks[r]);
    tally.expect(wrong[r] == 0, what + ": " + std::to_string(wrong[r]) + " elements");
    tally.expect(ranks[r]->fault(kLaunches).empty(), what + ": " + ranks[r]->fault(kLaunches));
    cudaStreamDestroy(streams[r]);
  }
}

/// A captured pull, replayed: the epoch is counted on the device, so every replay is a new launch.
void check_graph(Tally& tally) {
  constexpr int kReplays = 1000;
  const PullWorld world(*ops::find_operation("qkv_dgrad"),
                        {.P = 8, .B = 1, .s = 1024, .H = 512, .Hq = 16, .Hk = 4, .D = 128, .kv_replication = true});
  const PullCase c(world, 3);
  c.randomise_weight(11);
  world.randomise_for(3, 11);
  c.gather();
  for (const ops::CompiledPull* compiled : of_this_device(ops::compiled_pulls())) {
    const ops::CompiledPull& kernel = *compiled;
    if (kernel.weight_transposed != c.shape.weight_transposed) continue;
    c.compute_expected(kernel, 1);
    c.poison();
    c.reset_local();
    world.reset_flags();
    world.assume_arrived(3);
    const auto pull =
        kernel.pull(c.gemm(1), c.map(), c.plan(ops::Regime::sustained).chosen().moves, c.pull_heads(), c.flags());
    replay_as_graph(*pull, kReplays);
    tally.expect(c.mismatches() == 0, "graph replays of " + std::string(kernel.name));
    tally.expect(c.fault(kReplays).empty(), "graph replays of " + std::string(kernel.name) + ": " + c.fault(kReplays));
  }
}

void check_groups_and_graphs(Tally& tally) {
  check_graph(tally);
  for (const ops::CompiledPull* compiled : of_this_device(ops::compiled_pulls())) {
    const ops::CompiledPull& kernel = *compiled;
    const char* operation = kernel.weight_transposed ? "out_fwd" : "qkv_dgrad";
    check_group(operation, {.P = 2, .B = 1, .s = 2048, .H = 1024, .Hq = 16, .Hk = 4, .D = 128}, kernel, tally);
    check_group(operation, {.P = 4, .B = 1, .s = 1024, .H = 1024, .Hq = 16, .Hk = 2, .D = 128, .kv_replication = true},
                kernel, tally);
  }
}

void check_layouts(const ops::Operation& operation, CaseSet set, Tally& tally) {
  // GQA; MHA; two and one KV heads on up to 8 ranks; 64 features; no tile divides the hidden size
  constexpr Heads kHeads[] = {{32, 8, 128}, {16, 16, 128}, {16, 2, 128}, {16, 1, 128}, {16, 8, 64}};
  for (const core::Problem& problem : layout_problems(set, 1088, kHeads))
    for (const auto shards : {ops::ShardOrder::own_first, ops::ShardOrder::rank_zero_first})
      check_case(operation, problem, problem.P * 3 / 4, set == CaseSet::small ? 1 : 2, tally, shards);
}

void check_all(CaseSet set, Tally& tally) {
  for (const char* name : {"out_fwd", "qkv_dgrad"}) {
    const ops::Operation& operation = *ops::find_operation(name);
    if (set == CaseSet::tiny)
      check_case(operation, {.P = 4, .B = 1, .s = 256, .H = 256, .Hq = 8, .Hk = 2, .D = 64, .kv_replication = true}, 1,
                 1, tally);
    else
      check_layouts(operation, set, tally);
    if (set == CaseSet::all)  // a shape that is measured, 50 launches with new data each
      check_case(operation, {.P = 8, .B = 1, .s = 8192, .H = 4096, .Hq = 32, .Hk = 8, .D = 128}, 0, 50, tally);
  }
  if (set != CaseSet::tiny) check_the_checks(tally);
  if (set == CaseSet::all) check_groups_and_graphs(tally);
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) { return megaup::cuda_tests::run_checks(argc, argv, megaup::cuda_tests::check_all); }
