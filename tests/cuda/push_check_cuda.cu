/// Checks every push kernel on one device: bit for bit against the plain GEMM reordered, on every layout, with all
/// peers on this device.
///   megaup_cuda_push_check [small | tiny]      kernel_checks_cuda.cuh says what these are, and what it returns
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <kernel_checks_cuda.cuh>
#include <push_case_cuda.cuh>

namespace megaup::cuda_tests {

namespace {

std::string label(const PushCase& c) { return in_words(c.operation, c.problem, c.rank); }

void check_native(PushCase& c, Tally& tally) {
  c.native()->run(nullptr);
  c.poison();
  c.unpack_at_peers()->run(nullptr);
  check(cudaDeviceSynchronize(), "native arm");
  tally.expect(c.mismatches() == 0, "native " + label(c));
  if (const auto direct = c.native_without_unpack()) {
    c.poison();
    direct->run(nullptr);
    check(cudaDeviceSynchronize(), "native arm without unpacking");
    tally.expect(c.mismatches() == 0, "native without unpacking " + label(c));
  }
}

/// One kernel, `launches` times with new data each; the plain kernel only the first time.
void check_kernel(PushCase& c, const ops::CompiledPush& kernel, ops::Raster raster, int swizzle, int launches,
                  Tally& tally) {
  const std::string what =
      std::string(kernel.name) + "/" + std::string(name(raster)) + std::to_string(swizzle) + " " + label(c);
  std::vector<std::uint32_t> words(3, 0);  // a fresh barrier for each kernel; the peers' flags stay ahead
  check(cudaMemcpy(c.barrier_words.data(), words.data(), 12, cudaMemcpyHostToDevice), "barrier");
  const auto push = c.push(kernel, raster, swizzle);
  for (int launch = 0; launch < launches; ++launch) {
    if (launch > 0) {
      c.randomise(1000 + static_cast<std::uint64_t>(launch));
      c.compute_expected();
    }
    c.poison();
    push->run(nullptr);
    check(cudaDeviceSynchronize(), what.c_str());
    const std::int64_t wrong = c.mismatches();
    tally.expect(wrong == 0, what + " launch " + std::to_string(launch) + ": " + std::to_string(wrong) + " elements");
  }
  const std::string fault = c.barrier_fault(static_cast<std::uint32_t>(launches));
  tally.expect(fault.empty(), what + ": " + fault);
}

void check_plain(PushCase& c, const ops::CompiledPush& kernel, Tally& tally) {
  Memory other(c.wide.bytes());
  other.fill(kPoison);
  kernel.plain(c.gemm(ops::Raster::along_n, 8), other.data())->run(nullptr);
  check(cudaDeviceSynchronize(), "plain GEMM");
  const std::int64_t wrong = c.wide_mismatches(other.data());
  tally.expect(wrong == 0, std::string("plain ") + std::string(kernel.name) + " " + label(c) + ": " +
                               std::to_string(wrong) + " elements");
}

void check_case(const ops::Operation& operation, const core::Problem& problem, std::int64_t rank, int launches,
                Tally& tally) {
  if (core::refusal(problem) || ops::push_refusal(problem, operation.columns)) {
    ++tally.refusals;
    return;
  }
  PushCase c(operation, problem, rank);
  c.randomise(1);
  c.compute_expected();
  const double error = c.worst_error();
  tally.expect(error <= 1.0, "cuBLASLt against FP64, error over bound " + std::to_string(error) + " " + label(c));
  check_native(c, tally);
  for (const ops::CompiledPush* row : of_this_device(ops::compiled_pushes())) {
    const ops::CompiledPush& kernel = *row;
    if (kernel.weight_transposed != c.shape.weight_transposed) continue;
    c.randomise(1);
    c.compute_expected();
    check_plain(c, kernel, tally);
    check_kernel(c, kernel, ops::Raster::along_n, 8, launches, tally);
    c.randomise(1);
    c.compute_expected();
    check_kernel(c, kernel, ops::Raster::along_m, 1, 1, tally);
    check_kernel(c, kernel, ops::Raster::spread, 2, 1, tally);
  }
}

/// Each damage must be seen by the check that is there for it: a check that cannot fail proves nothing.
void check_the_checks(Tally& tally) {
  PushCase c(*ops::find_operation("qkv_fwd"), {.P = 4, .B = 1, .s = 512, .H = 256, .Hq = 16, .Hk = 8, .D = 128}, 1);
  const auto rows = of_this_device(ops::compiled_pushes());
  const ops::CompiledPush& kernel =
      **std::ranges::find_if(rows, [&](const ops::CompiledPush* row) { return row->weight_transposed; });
  c.randomise(3);
  c.compute_expected();
  const auto wrong_after = [&](const ops::PushMap& map, const ops::EndBarrier& barrier) {
    c.poison();
    c.push(kernel, ops::Raster::along_n, 8, map, barrier)->run(nullptr);
    check(cudaDeviceSynchronize(), "damaged push");
    return c.mismatches();
  };
  const std::int64_t head = c.problem.M() * c.problem.D;
  auto map = c.map();
  std::swap(map.heads[0], map.heads[8]);  // two query heads of different ranks
  const std::int64_t swapped = wrong_after(map, c.barrier());
  tally.expect(swapped > head && swapped <= 2 * head,
               "two swapped heads were seen as " + std::to_string(swapped) + " wrong elements");
  map = c.map();
  map.heads[5].copies = 0;  // one head is never sent
  tally.expect(wrong_after(map, c.barrier()) == head, "a lost head was not seen");
  map = c.map();
  map.row_shift[0] += 128;  // into the rows of the next rank
  tally.expect(wrong_after(map, c.barrier()) > 0, "shifted rows were not seen");
  tally.expect(wrong_after(c.map(), c.barrier()) == 0, "the sound push");
  check(cudaMemset(static_cast<std::uint16_t*>(c.homes[0].data()) + 7, 0, 2), "damage");
  tally.expect(c.mismatches() == 1, "one overwritten element was not seen");

  auto barrier = c.barrier();
  barrier.turn = 1;
  wrong_after(c.map(), barrier);
  tally.expect(c.barrier_fault(5).empty(), "launch 5 in its turn: " + c.barrier_fault(5));
  wrong_after(c.map(), barrier);
  tally.expect(c.barrier_fault(6) == "out of turn", "launch 6 out of its turn: " + c.barrier_fault(6));

  check(cudaMemset(barrier.lost, 0, 4), "no fault");
  barrier.timeout_ns = 20'000'000;
  check(cudaMemset(barrier.flags[c.rank] + 2, 0, 4), "a flag that does not come");
  wrong_after(c.map(), barrier);
  const std::string fault = c.barrier_fault(7);
  tally.expect(fault == "waited in vain for rank 2", "a missing peer was reported as '" + fault + "'");
}

/// A captured push, replayed: the epoch is counted on the device, so every replay is a new launch.
void check_graph(Tally& tally) {
  constexpr int kReplays = 1000;
  PushCase c(*ops::find_operation("qkv_fwd"),
             {.P = 8, .B = 1, .s = 1024, .H = 512, .Hq = 16, .Hk = 4, .D = 128, .kv_replication = true}, 3);
  for (const ops::CompiledPush* row : of_this_device(ops::compiled_pushes())) {
    const ops::CompiledPush& kernel = *row;
    if (!kernel.weight_transposed) continue;
    c.randomise(11);
    c.compute_expected();
    c.poison();
    check(cudaMemset(c.barrier_words.data(), 0, 12), "barrier");
    const auto push = c.push(kernel, ops::Raster::along_n, 8);
    replay_as_graph(*push, kReplays);
    tally.expect(c.mismatches() == 0, "graph replays of " + std::string(kernel.name));
    tally.expect(c.barrier_fault(kReplays).empty(),
                 "graph replays of " + std::string(kernel.name) + ": " + c.barrier_fault(kReplays));
  }
}

void check_layouts(const ops::Operation& operation, CaseSet set, Tally& tally) {
  // GQA; MHA; two KV heads on up to 8 ranks; 64 features; widths that are no multiple of every tile
  constexpr Heads kHeads[] = {{32, 8, 128}, {16, 16, 128}, {16, 2, 128}, {16, 8, 64}, {40, 8, 128}};
  for (const core::Problem& problem : layout_problems(set, 1024, kHeads))
    check_case(operation, problem, problem.P * 3 / 4, set == CaseSet::small ? 1 : 2, tally);
}

void check_all(CaseSet set, Tally& tally) {
  for (const char* name : {"qkv_fwd", "out_dgrad"}) {
    const ops::Operation& operation = *ops::find_operation(name);
    if (set == CaseSet::tiny)
      check_case(operation, {.P = 2, .B = 1, .s = 512, .H = 256, .Hq = 8, .Hk = 4, .D = 128}, 1, 1, tally);
    else
      check_layouts(operation, set, tally);
    if (set == CaseSet::all)  // the shape that is measured, 50 launches with new data each
      check_case(operation, {.P = 8, .B = 1, .s = 8192, .H = 4096, .Hq = 32, .Hk = 8, .D = 128}, 0, 50, tally);
  }
  if (set != CaseSet::tiny) check_the_checks(tally);
  if (set == CaseSet::all) check_graph(tally);
}

}  // namespace

}  // namespace megaup::cuda_tests

int main(int argc, char** argv) { return megaup::cuda_tests::run_checks(argc, argv, megaup::cuda_tests::check_all); }
