#include <array>
#include <string>

#include <fmt/format.h>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>
#include <megaup/core/hash.hpp>
#include <megaup/core/version.hpp>
#include <megaup/experiments/embedded.hpp>
#include <megaup/experiments/slurm_job.hpp>

using namespace megaup;
using namespace megaup::experiments;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
constexpr std::array<std::string_view, 2> kArms{"native_packed", "fused"};
constexpr std::array<std::string_view, 1> kBounds{"gemm_only"};

std::string yaml_of(std::string_view cps, std::string_view rest = "", std::string_view name = "t") {
  return fmt::format(
      "spec_version: 1\nname: {}\nworkload: {{batch: 1}}\nmatrix: {{hidden: 64, query_heads: 8, kv_heads: 8, head_dim: "
      "8, cp: [{}], "
      "tokens_per_rank: 16}}\n{}",
      name, cps, rest);
}
Spec parse(std::string_view yaml, const std::string& file = "t.yaml") {
  return parse_spec(
      yaml, file,
      {.operations = kOperations, .arms = kArms, .bounds = kBounds, .cuda_arms = kArms, .cuda_bounds = kBounds});
}
Spec spec(std::string_view cps, std::string_view rest = "") { return parse(yaml_of(cps, rest)); }
SlurmRequest request() { return {.program = "/opt/megaup", .result = "/data/t.h5"}; }
SlurmJob job(const Spec& of, const SlurmRequest& asked = request()) { return slurm_job(of, {.version = "1"}, asked); }
std::string script(const Spec& of, const SlurmRequest& asked = request()) {
  return slurm_script(job(of, asked), asked);
}

std::string refusal(const Spec& of, const SlurmRequest& asked) {
  try {
    job(of, asked);
  } catch (const core::Error& error) {
    CHECK(core::exit_status(error.kind()) == 2);
    return error.what();
  }
  FAIL("accepted");
  return {};
}
/// A request with one thing changed.
template <class T>
SlurmRequest with(T SlurmRequest::*member, T value) {
  SlurmRequest asked = request();
  asked.*member = std::move(value);
  return asked;
}
std::string line_of(const std::string& text, std::string_view start) {
  const std::size_t at = text.find(fmt::format("\n{}", start));
  if (at == std::string::npos) return {};
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

constexpr std::string_view kGpus = "backend: {device: cuda}\n",
                           kShared = "backend: {device: cuda, share_device: true}\n",
                           kSolo = "backend: {device: cuda, solo: true}\n",
                           kThreads = "backend: {communicator: threads}\n", kSelf = "backend: {communicator: self}\n";

}  // namespace

TEST_CASE("the script of a small spec, line by line", "[slurm]") {
  const std::string yaml = yaml_of("2, 4");
  const std::string expected = fmt::format(
      R"(#!/bin/bash
# Measures t under Slurm: 4 ranks, a process each, on 1 node. Made by megaup {} ({}) from t.yaml.
# sbatch starts it. Submitted again it goes on where an earlier job was stopped, was killed or had failed cells; on other
# nodes than before it measures all again (sbatch --nodelist). `megaup status RESULT` says from any shell how far it is.
#   cells   2 to run, 0 refused; at most MEMORY MiB of memory a rank
#   time    5 min, for each cell 30 s and three times its GEMMs, or its cell_timeout (2 min) if that is less, and the grace; all GEMMs
#           take less than 1 s at 100 GFLOP/s (--gflops). What is not done by then a second submission does
#   note    2 groups of cp 2 work side by side, and the slowest counts: for the time of one group alone make a spec with that cp only
#SBATCH --job-name=megaup-t
#SBATCH --output=megaup-t-%j.out
#SBATCH --open-mode=append
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --ntasks-per-node=4
#SBATCH --time=00:08:00
# A neighbour on the node would share memory bandwidth, links and power with what is timed.
#SBATCH --exclusive
#SBATCH --mem=0
# SIGTERM to the ranks before the time is over: they write what is finished and end with status 5.
#SBATCH --signal=TERM@60
# After a node failed or the job was preempted Slurm may start it again: it goes on.
#SBATCH --requeue
set -euo pipefail

die() {{ # STATUS MESSAGE
  printf 'megaup job %s: %s\n' "$SLURM_JOB_ID" "$2" >&2
  exit "$1"
}}

[[ -n ${{SLURM_JOB_ID:-}} ]] || {{ printf 'this is a batch script of Slurm: start it with sbatch\n' >&2; exit 2; }}

program='/opt/megaup'
result='/data/t.h5'

# A rank that dies must end the job: the others would wait for it until the time is over. Groups are consecutive ranks: block.
# Not bound: the program divides the cores of the node among its ranks (to bind them: --cpus-per-rank).
launch=(srun --mpi=pmix --kill-on-bad-exit=1 --export=ALL --nodes=1 --ntasks=4 --ntasks-per-node=4 --distribution=block --cpu-bind=none)

spec_sha256={}
write_spec() {{ # FILE: head, because the last line of a here-document always ends
  head -c {} >"$1" <<'END_OF_SPEC'
{}END_OF_SPEC
}}
{})",
      core::version(), core::git_commit(), core::sha256(yaml), yaml.size(), yaml, embedded_batch().back().bytes);
  std::string found = script(parse(yaml));
  const std::size_t memory = found.find("at most ") + 8;
  found.replace(memory, found.find(" MiB") - memory, "MEMORY");  // plan_test judges it
  CHECK(found == expected);
}

TEST_CASE("one process a GPU, on one node, that sees them all", "[slurm]") {
  const auto text = script(spec("2, 4", kGpus));
  CHECK(line_of(text, "#SBATCH --ntasks=") == "#SBATCH --ntasks=4");
  CHECK(line_of(text, "#SBATCH --gpus-per-node") == "#SBATCH --gpus-per-node=4");
  CHECK_THAT(line_of(text, "launch="), ContainsSubstring("--ntasks=4") && ContainsSubstring("--gpu-bind=none"));
  CHECK(job(spec("4", kGpus), with(&SlurmRequest::gpus_per_node, std::int64_t{8})).gpus_per_node == 8);
  CHECK_THAT(refusal(spec("4", kGpus), with(&SlurmRequest::gpus_per_node, std::int64_t{2})),
             ContainsSubstring("4 ranks have a GPU each"));
  CHECK_THAT(refusal(spec("4", kGpus), with(&SlurmRequest::nodes, std::int64_t{2})),
             ContainsSubstring("within one node only"));
  CHECK_THAT(refusal(spec("4"), with(&SlurmRequest::gpus_per_node, std::int64_t{4})),
             ContainsSubstring("'device: host'"));
  CHECK(job(spec("4", kGpus)).gflops == 4 * kGpuGflops);
}

TEST_CASE("ranks that are threads are one task with the whole node", "[slurm]") {
  for (const auto rest : {kShared, kSolo, kThreads}) {
    const auto found = job(spec("2, 4", rest));
    CHECK(found.threads);
    CHECK(found.tasks == 1);
    CHECK(found.ranks == 4);
    CHECK(found.gpus_per_node == (rest == kThreads ? 0 : 1));
    CHECK_THAT(line_of(script(spec("2, 4", rest)), "launch="),
               ContainsSubstring("srun --mpi=none") && ContainsSubstring("--ntasks=1 "));
  }
  CHECK(job(spec("1", kSelf)).tasks == 1);
  const auto each = job(spec("2, 4", "backend: {device: cuda, communicator: threads}\n"));
  CHECK(each.gpus_per_node == 4);
  CHECK(each.tasks == 1);
  CHECK_THAT(refusal(spec("2", kThreads), with(&SlurmRequest::ranks, std::int64_t{2})),
             ContainsSubstring("'communicator: threads'") && ContainsSubstring("--ranks"));
  CHECK_THAT(refusal(spec("2", kSolo), with(&SlurmRequest::nodes, std::int64_t{2})),
             ContainsSubstring("'solo: true'") && ContainsSubstring("--nodes"));
  const auto bound = script(spec("4", kThreads), with(&SlurmRequest::cpus_per_rank, std::int64_t{3}));
  CHECK(line_of(bound, "#SBATCH --cpus-per-task") == "#SBATCH --cpus-per-task=12");
}

TEST_CASE("groups: the largest cp that all others divide, else the user chooses", "[slurm]") {
  CHECK(job(spec("1, 2, 4, 8")).ranks == 8);
  CHECK(job(spec("1")).ranks == 1);
  const Spec uneven = parse(
      "spec_version: 1\nname: t\nworkload: {batch: 1}\nmatrix: {hidden: 96, query_heads: 12, kv_heads: 12, head_dim: "
      "8, cp: [2, 3, 4], "
      "tokens_per_rank: 16}\n");
  CHECK_THAT(refusal(uneven, request()), ContainsSubstring("cells of cp 2, 3, 4") && ContainsSubstring("--ranks 12") &&
                                             ContainsSubstring("--ranks 4"));
  CHECK(job(uneven, with(&SlurmRequest::ranks, std::int64_t{12})).plan.n_refused == 0);
  const auto some = job(uneven, with(&SlurmRequest::ranks, std::int64_t{4}));
  CHECK(some.plan.n_refused == 1);
  CHECK_THAT(slurm_notes(some).front(),
             ContainsSubstring("1 of 3 cells are refused") && ContainsSubstring("--world 4"));
  CHECK_THAT(refusal(spec("2, 4"), with(&SlurmRequest::ranks, std::int64_t{3})),
             ContainsSubstring("no cell of this spec can run"));
  CHECK_THAT(refusal(spec("5"), request()), ContainsSubstring("no cell of this spec can run"));
}

TEST_CASE("several nodes have the same number of ranks, and groups across them are named", "[slurm]") {
  const auto two = job(spec("2, 4"), with(&SlurmRequest::nodes, std::int64_t{2}));
  CHECK(two.tasks == 4);
  CHECK(two.tasks_per_node() == 2);
  CHECK_THAT(slurm_notes(two).back(), ContainsSubstring("groups of cp 4 have ranks on several nodes (2 a node)"));
  SlurmRequest asked = with(&SlurmRequest::nodes, std::int64_t{2});
  asked.ranks = 8;
  CHECK_THAT(slurm_notes(job(spec("4"), asked)).back(), ContainsSubstring("side by side"));
  CHECK_THAT(refusal(spec("2, 4"), with(&SlurmRequest::nodes, std::int64_t{3})),
             ContainsSubstring("4 ranks on 3 nodes"));
}

TEST_CASE("the time comes from the plan, and no cell has more than its timeout", "[slurm]") {
  const Spec of = spec("2", "measure: {cell_timeout: 100 s}\n");
  const double flop = job(of).plan.cells.front().flop;
  SlurmRequest asked = request();
  asked.gflops = flop / 10 / 1e9;  // its GEMMs take 10 s
  CHECK(job(of, asked).gemm_s == Catch::Approx(10));
  CHECK(job(of, asked).limit_s == 420);  // 300 + 30 + 3 * 10 + 60
  asked.gflops = flop / 1000 / 1e9;
  CHECK(job(of, asked).limit_s == 480);  // 300 + 100 + 60, whole minutes
  CHECK_THAT(slurm_notes(job(of, asked)).front(), ContainsSubstring("1 cells take longer than cell_timeout"));
  CHECK(job(spec("2, 4"), asked).gemm_s > job(spec("4"), asked).gemm_s + 1999);  // two groups do it twice
  asked = with(&SlurmRequest::grace_s, std::int64_t{600});
  CHECK(job(of, asked).limit_s == 960);  // 300 + 30 + 600, whole minutes
}

TEST_CASE("a time is what sbatch takes, and longer than the grace", "[slurm]") {
  CHECK(slurm_seconds("90") == 5400);
  CHECK(slurm_seconds("1:30") == 90);
  CHECK(slurm_seconds("1:30:05") == 5405);
  CHECK(slurm_seconds("2-1") == 176400);
  CHECK(slurm_seconds("2-1:30") == 178200);
  CHECK(slurm_seconds("2-01:30:05") == 178205);
  for (const auto* text : {"", "-", "1-", "-1", "1:", ":1", "1:2:3:4", "1-2:3:4:5", "1h", "1.5", "+1", "1--2",
                           "1234567", "INFINITE", "1 2"})
    CHECK_FALSE(slurm_seconds(text));
  CHECK(line_of(script(spec("2"), with(&SlurmRequest::time, std::string("1-00"))), "#SBATCH --time") ==
        "#SBATCH --time=1-00");
  CHECK_THAT(refusal(spec("2"), with(&SlurmRequest::time, std::string("1:00"))),
             ContainsSubstring("nothing would be measured"));
  CHECK_THAT(refusal(spec("2"), with(&SlurmRequest::time, std::string("2h"))), ContainsSubstring("DAYS-HOURS"));
}

TEST_CASE("paths are quoted, and what cannot stand on a line is refused", "[slurm]") {
  SlurmRequest asked = request();
  asked.program = "/a b/'q'/$(x)";
  asked.result = "/d\"d/`y`\\.h5";
  const auto text = script(spec("2"), asked);
  CHECK(line_of(text, "program=") == R"(program='/a b/'\''q'\''/$(x)')");
  CHECK(line_of(text, "result=") == R"(result='/d"d/`y`\.h5')");
  for (const auto member : {&SlurmRequest::program, &SlurmRequest::result})
    for (const auto* value : {"", "/a\nb", "/a\x7f", "/a\tb"})
      CHECK_THAT(refusal(spec("2"), with(member, std::string(value))), ContainsSubstring("one line"));
  for (const auto member : {&SlurmRequest::partition, &SlurmRequest::account, &SlurmRequest::mpi})
    for (const auto* value : {"a b", "a\nb", "$x", "-p", "a'"})
      CHECK_THAT(refusal(spec("2"), with(member, std::string(value))), ContainsSubstring("letters, digits"));
  using Lines = std::vector<std::string>;
  CHECK_THAT(refusal(spec("2"), with(&SlurmRequest::directives, Lines{"constraint=h200"})),
             ContainsSubstring("an option of sbatch"));
  CHECK_THAT(refusal(spec("2"), with(&SlurmRequest::directives, Lines{"--x\nrm"})), ContainsSubstring("one line"));
  CHECK_THAT(refusal(spec("2"), with(&SlurmRequest::setup, Lines{"a\nb"})), ContainsSubstring("one line"));
}

TEST_CASE("what the user adds comes last, and set-up lines before the measurement", "[slurm]") {
  SlurmRequest asked = request();
  asked.partition = "gpu,big";
  asked.account = "a.b@c";
  asked.mpi = "pmix_v4";
  asked.cpus_per_rank = 6;
  asked.directives = {"--constraint=h200", "--mem=64G"};
  asked.setup = {"module load cuda/13", "export X='1'"};
  const auto text = script(spec("2"), asked);
  CHECK_THAT(text, ContainsSubstring("#SBATCH --partition=gpu,big\n#SBATCH --account=a.b@c\n"));
  CHECK_THAT(text,
             ContainsSubstring("#SBATCH --requeue\n#SBATCH --constraint=h200\n#SBATCH --mem=64G\nset -euo pipefail\n"));
  CHECK_THAT(text, ContainsSubstring("\nmodule load cuda/13\nexport X='1'\nset -eu\n"));
  CHECK_THAT(line_of(text, "launch="),
             ContainsSubstring("--mpi=pmix_v4") && ContainsSubstring("--cpus-per-task=6 --cpu-bind=cores"));
}

TEST_CASE("names of a spec become plain names of jobs, and comments stay comments", "[slurm]") {
  const auto text = script(parse(yaml_of("2", "", "a b%j;$(x)'"), "evil\nrm -rf x.yaml"));
  CHECK(line_of(text, "#SBATCH --job-name") == "#SBATCH --job-name=megaup-a_b_j___x__");
  CHECK(line_of(text, "#SBATCH --output") == "#SBATCH --output=megaup-a_b_j___x__-%j.out");
  CHECK_THAT(text, ContainsSubstring("evil\\nrm -rf x.yaml"));
}

TEST_CASE("a spec that holds the script's delimiter gets another one", "[slurm]") {
  const std::string yaml = yaml_of("2") + "# END_OF_SPEC\n#\nEND_OF_SPEC_:";  // and no end of its last line
  const std::string plain = yaml_of("2") + "# END_OF_SPEC";
  CHECK_THAT(script(parse(plain)), ContainsSubstring("<<'END_OF_SPEC_'\n" + plain + "\nEND_OF_SPEC_\n}\n"));
  CHECK_THROWS_AS(parse(yaml), core::Error);
}
