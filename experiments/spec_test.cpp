#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/error.hpp>
#include <megaup/experiments/cell_values.hpp>
#include <megaup/experiments/embedded.hpp>
#include <megaup/experiments/plan.hpp>

using namespace megaup;
using namespace megaup::experiments;

namespace {

constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
constexpr std::array<std::string_view, 4> kArms{"native_packed", "native_pipelined", "native_chunked", "fused"};
constexpr std::array<std::string_view, 3> kBounds{"gemm_only", "exchange_only", "reorder_only"};
constexpr std::array<std::string_view, 5> kCudaArms{"native_packed", "native_packed_ce", "native_pipelined_ce", "native_chunked_ce", "fused"};
constexpr std::array<std::string_view, 2> kCudaBounds{"gemm_only", "exchange_only"};
constexpr std::array<std::string_view, 2> kKernels{"c128x256", "pp128x192"};
constexpr std::array<std::string_view, 2> kPushOrders{"N8", "M1"}, kPullOrders{"N4", "N1"};
constexpr KnownNames kKnown{.operations = kOperations,
                            .arms = kArms,
                            .bounds = kBounds,
                            .cuda_arms = kCudaArms,
                            .cuda_bounds = kCudaBounds,
                            .push = {kKernels, kPushOrders},
                            .pull = {kKernels, kPullOrders}};

constexpr std::string_view kCells = "workload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: 2, tokens_per_rank: 64}\n";

Spec parse(std::string_view rest) {
  return parse_spec("spec_version: 1\nname: t\n" + std::string(rest), "t.yaml", kKnown);
}
Spec parse_with_cells(std::string_view rest) { return parse(std::string(kCells) + std::string(rest)); }

/// The error text of a spec that must be refused, behind the two lines that parse() puts in front.
std::string refusal(std::string_view rest) {
  try {
    parse(rest);
  } catch (const core::Error& error) {
    CHECK(core::exit_status(error.kind()) == 2);
    return error.what();
  }
  FAIL("accepted: " << rest);
  return {};
}
bool refused(std::string_view rest, std::string_view part) {
  const std::string text = refusal(rest);
  INFO(text);
  return text.find(part) != std::string::npos;
}
bool refused_with_cells(std::string_view rest, std::string_view part) {
  return refused(std::string(kCells) + std::string(rest), part);
}

}  // namespace

TEST_CASE("defaults are the protocol's", "[spec]") {
  const Spec spec = parse_with_cells("");
  CHECK(spec.operations == std::vector<std::string>(kOperations.begin(), kOperations.end()));
  CHECK(spec.arms.all() ==
        std::vector<std::string>{"native_packed", "fused", "gemm_only", "exchange_only", "reorder_only"});
  CHECK(spec.measure.warmup == 10);
  CHECK(spec.measure.observations == 40);
  CHECK(spec.measure.pairs == 1);
  CHECK(spec.measure.cell_timeout_s == 120);
  CHECK(text(*spec.workload[index(CellKey::format)]) == "sbhd");
  CHECK(text(*spec.workload[index(CellKey::kv_replication)]) == "false");
  CHECK(spec.validate.seed == 1);
}

TEST_CASE("every key of the format is read", "[spec]") {
  const Spec spec = parse(R"(
workload: {batch: 8, dtype: bf16, format: thd, sequence_order: dual_chunk, qkv_weight: concatenated, kv_replication: true}
matrix:
  model: [qwen3-8b, llama-3.1-8b]
  cp: [2, 4]
  tokens_per_rank: [2048]
include:
  - {model: [nemotron-3-super], cp: [2], tokens_per_rank: [2048, 4096]}
exclude:
  - {model: qwen3-8b, cp: 4}
operations: [out_fwd, qkv_fwd]
arms: {baseline: [native_chunked, native_packed], candidate: fused, bounds: false}
measure: {warmup: 0, observations: 7, pairs: 3, cadence: back_to_back, duty: sustained, cache: cold, cell_timeout: 1.5 min}
backend: {device: host, communicator: mpi, exchange: auto, share_device: false}
validate: {mode: every, seed: 77}
)");
  CHECK(spec.matrix->axes.size() == 3);
  CHECK(spec.include.size() == 1);
  CHECK(spec.exclude.size() == 1);
  CHECK(spec.models.size() == 3);
  CHECK(spec.operations == std::vector<std::string>{"out_fwd", "qkv_fwd"});
  CHECK(spec.arms.all() == std::vector<std::string>{"native_chunked", "native_packed", "fused"});
  CHECK(spec.measure.cadence == Cadence::back_to_back);
  CHECK(spec.measure.cache == Cache::cold);
  CHECK(spec.measure.cell_timeout_s == 90);
  CHECK(spec.backend.communicator == CommunicatorChoice::mpi);
  CHECK(spec.validate.mode == ValidateMode::every);
  CHECK(spec.validate.seed == 77);
}

TEST_CASE("strings stay strings and booleans are true or false", "[spec]") {
  CHECK(parse_spec("spec_version: 1\nname: NO\n" + std::string(kCells), "t.yaml", kKnown).name == "NO");
  CHECK(parse_spec("spec_version: 1\nname: 1e4\n" + std::string(kCells), "t.yaml", kKnown).name == "1e4");
  CHECK(
      refused_with_cells("arms: {bounds: \"no\"}\n", "'bounds' must be true or false, not the text \"no\" in quotes"));
  CHECK(refused_with_cells("arms: {bounds: y}\n", "'bounds' must be true or false, not 'y'"));
  CHECK(refused_with_cells("arms: {bounds: 1}\n", "'bounds' must be true or false, not '1'"));
}

TEST_CASE("numbers follow one grammar and errors say key, value and type", "[spec]") {
  for (const auto* value :
       {"0010", "0o17", "09", "1e4", "4.0", "1_000", "1:30", "0x10", "-8", "0", "\"8\"", "[8]", "", ".nan"}) {
    const std::string text = refusal(
        "matrix: {model: qwen3-8b, cp: 2, tokens_per_rank: 64}\nworkload: {batch: " + std::string(value) + "}\n");
    INFO(text);
    CHECK(text.find("'batch' ") != std::string::npos);
    CHECK(
        (text.find("whole number") != std::string::npos || text.find("one value for all cells") != std::string::npos));
  }
  CHECK(refused_with_cells("measure: {cell_timeout: .nan}\n", "'cell_timeout' must be a number"));
  CHECK(refused_with_cells("measure: {cell_timeout: 120}\n", "write 120 s for seconds"));
  CHECK(refused_with_cells("measure: {cell_timeout: 2 MiB}\n", "one of the units ns, us, ms, s, min, h"));
}

TEST_CASE("misspelt keys are errors that name the nearest key", "[spec]") {
  CHECK(
      refused_with_cells("measure: {observatons: 100}\n",
                         "t.yaml:5:11: error: unknown key 'observatons' in 'measure' (did you mean 'observations'?)"));
  CHECK(refused_with_cells("include:\n  - {observatons: 100, cp: 4}\n",
                           "did you mean 'observations'? It belongs into 'measure'"));
  CHECK(refused("workload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: 2, token_per_rank: [64]}\n",
                "did you mean 'tokens_per_rank'?"));
  CHECK(refused_with_cells("exclude:\n  - &x {cp: 2, tokens_per_ranks: 100}\n  - *x\n",
                           "t.yaml:6:16: error: unknown key 'tokens_per_ranks'"));
  CHECK(refused_with_cells("measures: {}\n", "unknown key 'measures' in 'spec' (did you mean 'measure'?)"));
  CHECK(refused_with_cells("operations: [qkv_fdw]\n", "did you mean 'qkv_fwd'?"));
  CHECK(refused("workload: {batch: 8}\nmatrix: {model: llama3.1-8b, cp: 2, tokens_per_rank: 64}\n",
                "did you mean 'llama-3.1-8b'?"));
}

TEST_CASE("what later versions will have is refused by name", "[spec]") {
  for (const auto* text :
       {"include:\n  - {dtype: fp8, cp: 4, model: qwen3-8b, tokens_per_rank: 64}\n"}) {
    INFO(text);
    CHECK(refused_with_cells(text, "not built in this version"));
  }
}

TEST_CASE("GPUs: what needs one is refused without, and what cannot stand together", "[spec]") {
  CHECK(refused_with_cells("measure: {duty: spaced}\n", "'duty: spaced' is a power regime of GPUs: it needs 'device: cuda'"));
  CHECK(refused_with_cells("backend: {exchange: nccl}\n", "'exchange: nccl' is about GPUs: it needs 'device: cuda'"));
  CHECK(refused_with_cells("backend: {share_device: true}\n", "'share_device: true' is about GPUs"));
  CHECK(refused_with_cells("backend: {solo: true}\n", "'solo: true' is about GPUs"));
  CHECK(refused_with_cells("backend: {communicator: nccl}\n", "'communicator' must be one of auto, self, threads, mpi"));
  CHECK(refused_with_cells("backend: {device: gpu}\n", "'device' must be one of host, cuda"));
  CHECK(refused_with_cells("backend: {device: cuda, share_device: false, solo: true}\n", "cannot stand beside 'solo: true'"));
  CHECK(refused_with_cells("backend: {device: cuda, share_device: true, communicator: mpi}\n",
                           "'communicator: mpi' cannot stand beside 'share_device: true'"));
  CHECK(refused_with_cells("backend: {device: cuda, solo: true, exchange: nccl}\n",
                           "'exchange: nccl' cannot stand beside 'share_device: true'"));
  CHECK(refused_with_cells("backend: {device: cuda, share_device: true, exchange: nccl_zero_cta}\n",
                           "'exchange: nccl_zero_cta' cannot stand beside 'share_device: true'"));
  CHECK(refused_with_cells("backend: {device: cuda, exchange: zero_cta}\n",
                           "'exchange' must be one of auto, nccl, nccl_window, nccl_zero_cta, copy_engine"));
  CHECK(refused_with_cells("backend: {device: cuda, solo: true}\nvalidate: {mode: every}\n",
                           "'mode: every' cannot stand beside 'solo: true'"));
}

TEST_CASE("GPUs: arms are those of the device", "[spec]") {
  const Spec spec = parse_with_cells("backend: {device: cuda, solo: true}\nmeasure: {duty: spaced}\n"
                                     "arms: {baseline: [native_packed, native_packed_ce], candidate: fused}\n");
  CHECK(spec.backend.device == DeviceKind::cuda);
  CHECK(spec.backend.share_device);  // implied
  CHECK(spec.arms.bounds == std::vector<std::string>{"gemm_only", "exchange_only"});
  CHECK(resolved_json(spec).find(R"("duty":"spaced")") != std::string::npos);
  CHECK(resolved_json(spec).find(R"("device":"cuda","communicator":"auto","exchange":"auto","share_device":true,"solo":true,"push":"auto","pull":"auto")") !=
        std::string::npos);
  CHECK(refused_with_cells("backend: {device: cuda}\narms: {candidate: native_chunked}\n",
                           "'candidate' 'native_chunked' exists with 'device: host' only; 'device: cuda' has native_packed, native_packed_ce, native_pipelined_ce, native_chunked_ce, fused"));
  CHECK(refused_with_cells("arms: {candidate: native_packed_ce}\n", "exists with 'device: cuda' only"));
}

TEST_CASE("GPUs: every transport of an exchange has a word, which is read back", "[spec]") {
  for (const std::string word : {"auto", "nccl", "nccl_window", "nccl_zero_cta", "copy_engine"}) {
    const Spec spec = parse_with_cells("backend: {device: cuda, exchange: " + word + "}\n");
    CHECK(name(spec.backend.exchange) == word);
    CHECK(by_nccl(spec.backend.exchange) == word.starts_with("nccl"));
    CHECK(resolved_json(spec).find("\"exchange\":\"" + word + "\"") != std::string::npos);
  }
}

TEST_CASE("GPUs: kernels of the fused arms can be asked for", "[spec]") {
  const auto backend = [](std::string_view rest) {
    return parse_with_cells("backend: {device: cuda, " + std::string(rest) + "}\n").backend;
  };
  CHECK(backend("solo: true").push == ops::KernelWish{});
  CHECK(backend("push: auto, pull: auto").push == ops::KernelWish{});
  CHECK(backend("push: pp128x192").push == ops::KernelWish{"pp128x192", ""});
  CHECK(backend("push: pp128x192").pull == ops::KernelWish{});
  CHECK(backend("push: c128x256/M1, pull: \"pp128x192/N4\"").push == ops::KernelWish{"c128x256", "M1"});
  CHECK(backend("push: c128x256/M1, pull: \"pp128x192/N4\"").pull == ops::KernelWish{"pp128x192", "N4"});
  CHECK(backend("pull: auto/N1").pull == ops::KernelWish{"", "N1"});
}

TEST_CASE("GPUs: a kernel that is asked for makes another cell of it, and is in the resolved spec", "[plan]") {
  std::vector<std::string> identities;
  for (const auto* wish : {"solo: false", "push: c128x256", "push: c128x256/N8", "pull: c128x256", "pull: auto/N1"}) {
    const Spec spec = parse_with_cells("backend: {device: cuda, " + std::string(wish) + "}\n");
    identities.push_back(plan(spec, {}).cells.front().identity);
    CHECK(std::ranges::count(identities, identities.back()) == 1);
  }
  CHECK(resolved_json(parse_with_cells("backend: {device: cuda, push: c128x256/N8, pull: auto/N1}\n"))
            .find(R"("push":"c128x256/N8","pull":"auto/N1")") != std::string::npos);
}

TEST_CASE("GPUs: kernels that do not exist are refused at their place, with the nearest name", "[spec]") {
  CHECK(refused_with_cells("backend: {device: cuda, push: pp128x19}\n",
                           "t.yaml:5:31: error: 'push' must be one of auto, c128x256, pp128x192, not 'pp128x19' (did "
                           "you mean 'pp128x192'?)\n  backend: {device: cuda, push: pp128x19}\n" +
                               std::string(32, ' ') + "^"));
  CHECK(refused_with_cells("backend: {device: cuda, push: pp128x192/N9}\n",
                           "t.yaml:5:41: error: 'order of push' must be one of N8, M1, not 'N9' (did you mean 'N8'?)\n  "
                           "backend: {device: cuda, push: pp128x192/N9}\n" +
                               std::string(42, ' ') + "^"));
  CHECK(refused_with_cells("backend: {device: cuda, pull: \"c128x256/M1\"}\n",
                           "t.yaml:5:41: error: 'order of pull' must be one of N4, N1, not 'M1'"));
  CHECK(refused_with_cells("backend: {device: cuda, pull: c128x25/M1}\n", "t.yaml:5:31: error: 'pull' must be"));
  CHECK(refused_with_cells("backend: {device: cuda, pull: c128x25/M1}\n", "t.yaml:5:39: error: 'order of pull' must"));
  CHECK(refused_with_cells("backend: {device: cuda, push: auto/}\n", "'order of push' must be one of N8, M1, not ''"));
  CHECK(refused_with_cells("backend: {device: cuda, push: /N8}\n", "'push' must be one of auto, c128x256, pp128x192, not ''"));
  CHECK(refused_with_cells("backend: {device: cuda, push: [auto]}\n", "pp128x192, not a list"));
  CHECK(refused_with_cells("backend: {push: pp128x192/N8}\n", "'push: pp128x192/N8' is about GPUs: it needs 'device: cuda'"));
  CHECK(refused_with_cells("backend: {device: host, pull: auto/N4}\n", "'pull: auto/N4' is about GPUs"));
  CHECK(parse_with_cells("backend: {push: auto}\n").backend.push == ops::KernelWish{});
}

TEST_CASE("GPUs: cells that do not fit into the device's memory are refused by the plan", "[plan]") {
  const Spec spec = parse_with_cells("backend: {device: cuda, share_device: true}\n");
  const Plan free = plan(spec, {});
  REQUIRE(free.n_refused == 0);
  const auto& cell = free.cells.front();
  const std::int64_t all = cell.problem.P * cell.bytes_per_rank + (std::int64_t{3} << 30);
  CHECK(plan(spec, {.device_bytes = all}).cells.front().refused.empty());
  const Plan full = plan(spec, {.device_bytes = all - 1});
  CHECK(full.cells.front().refused.find("GiB for the device itself do not fit into its") != std::string::npos);
  CHECK(full.n_refused > 0);
  CHECK(plan(parse_with_cells("backend: {device: cuda}\n"), {.device_bytes = all - 1}).cells.front().refused.empty());
}

TEST_CASE("contradictions are refused", "[spec]") {
  CHECK(refused("workload: {batch: 8}\nmatrix: {model: qwen3-8b, hidden: 64, cp: 2, tokens_per_rank: 64}\n",
                "cannot stand beside 'model'"));
  CHECK(refused("workload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: 2, tokens_per_rank: 64, sequence_length: 64}\n",
                "'sequence_length' cannot stand beside 'tokens_per_rank' (line 4)"));
  CHECK(refused("workload: {batch: 8, cp: 4}\nmatrix: {model: qwen3-8b, cp: 2, tokens_per_rank: 64}\n",
                "replaces 'cp' of 'workload'"));
  CHECK(refused("workload: {batch: [8]}\nmatrix: {model: qwen3-8b, cp: 2, tokens_per_rank: 64}\n",
                "lists belong into 'matrix'"));
  CHECK(refused("matrix: {model: qwen3-8b, tokens_per_rank: 64}\n", "the cells of 'matrix' lack cp, batch"));
  CHECK(refused("workload: {batch: 1}\nmatrix: {hidden: 64, kv_heads: 2, cp: 2}\n",
                "lack query_heads, head_dim, tokens_per_rank (or sequence_length)"));
  CHECK(refused("workload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: [2, 4, 2], tokens_per_rank: 64}\n",
                "'cp' has the value 2 twice"));
  CHECK(refused("workload: {batch: 8}\nmatrix: {model: qwen3-8b, cp: [], tokens_per_rank: 64}\n", "empty list"));
  CHECK(refused("workload: {batch: 8}\n", "this spec has no cells"));
  CHECK(refused("workload: {batch: 8}\ninclude: []\n", "this spec has no cells"));
  CHECK(refused("matrix: {}\n", "'matrix' has no keys"));
  CHECK(refused_with_cells("exclude: [{}]\n", "'exclude 1' has no keys"));
  CHECK(refused_with_cells("arms: {baseline: [fused], candidate: fused}\n", "is a baseline too"));
  CHECK(refused_with_cells("arms: {baseline: []}\n",
                           "'baseline' must be a list of at least one name, not an empty list"));
  CHECK(
      refused_with_cells("arms: {baseline: [native_packed, native_packed]}\n", "'baseline' has 'native_packed' twice"));
  CHECK(refused_with_cells("arms: {candidate: gemm_only}\n", "'candidate' must be one of"));
  CHECK(refused_with_cells("measure:\n", "'measure' must be a map of keys, not nothing"));
}

TEST_CASE("the version of the spec is required and checked", "[spec]") {
  const auto message = [](std::string_view yaml) -> std::string {
    try {
      parse_spec(yaml, "t.yaml", kKnown);
    } catch (const core::Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("name: t\n" + std::string(kCells)).find("key 'spec_version' is missing") != std::string::npos);
  CHECK(message("spec_version: 2\nname: t\n" + std::string(kCells)).find("from 1 to 1, not '2'") != std::string::npos);
  CHECK(message("spec_version: 1\n" + std::string(kCells)).find("key 'name' is missing") != std::string::npos);
  CHECK(message("just text\n").find("'spec' must be a map of keys") != std::string::npos);
}

TEST_CASE("inline models: widths that do not fit are refused", "[spec]") {
  const std::string cells = "workload: {batch: 8}\nmatrix: {model: m, cp: 2, tokens_per_rank: 64}\n";
  const auto model = [&](std::string_view sizes) { return cells + "models:\n  m: {" + std::string(sizes) + "}\n"; };
  CHECK(
      parse(model("hidden: 512, query_heads: 8, kv_heads: 2, head_dim: 64, qkv_width: 768")).models.at("m").head_dim ==
      64);
  CHECK(refused(model("hidden: 512, query_heads: 8, kv_heads: 2, head_dim: 96, qkv_width: 768"),
                "with it head_dim is 64"));
  CHECK(refused(model("hidden: 512, query_heads: 8, kv_heads: 2, head_dim: 64, qkv_width: 769"),
                "not even a multiple of 12 heads"));
  CHECK(refused(model("hidden: 512, query_heads: 8, kv_heads: 2, head_dim: 192, value_head_dim: 128"),
                "value_head_dim 128 differs from head_dim 192"));
  CHECK(
      parse(model("hidden: 512, query_heads: 8, kv_heads: 2, head_dim: 96, value_head_dim: 96")).models.contains("m"));
  CHECK(refused(model("hidden: 512, query_heads: 8, head_dim: 64"), "key 'kv_heads' is missing in 'models.m'"));
  CHECK(refused("models: {qwen3-8b: {hidden: 1, query_heads: 1, kv_heads: 1, head_dim: 1}}\n" + std::string(kCells),
                "in the catalogue already"));
  for (const auto& name : {std::string("fused/v1"), std::string("."), std::string("\"a\\0b\""), std::string(300, 'x'),
                           std::string("\"\"")})
    CHECK(refused_with_cells("models:\n  ? " + name + "\n  : {hidden: 8, query_heads: 2, kv_heads: 1, head_dim: 4}\n",
                             "'name of a model' must be a name"));
  CHECK(parse_with_cells("models: {\xc3\xbc: {hidden: 8, query_heads: 2, kv_heads: 1, head_dim: 4}}\n")
            .models.contains("\xc3\xbc"));
}

TEST_CASE("shipped specs load by name and plan", "[spec]") {
  CHECK(embedded_specs().size() >= 5);
  for (const auto& file : embedded_specs()) {
    const std::string name(file.name.substr(0, file.name.rfind('.')));
    INFO(name);
    const Spec spec = load_spec(name, kKnown);
    CHECK(spec.name == name);
    const Plan p = plan(spec, {});
    CHECK(p.n_refused == 0);
    if (name == "reference-56") CHECK(p.cells.size() == 56);
    if (name == "quickstart") CHECK(p.cells.front().problem.P == 2);
  }
}

TEST_CASE("a spec argument that is neither a file nor a shipped name", "[spec]") {
  const auto message = [](const std::string& argument) -> std::string {
    try {
      load_spec(argument, kKnown);
    } catch (const core::Error& error) {
      CHECK(core::exit_status(error.kind()) == 2);
      return error.what();
    }
    return "";
  };
  CHECK(message("quikstart").find("did you mean 'quickstart'?") != std::string::npos);
  CHECK(message("/nowhere/x.yaml").find("no such file") != std::string::npos);
  CHECK(message(std::filesystem::temp_directory_path().string()).find("a folder") != std::string::npos);
  const auto path = std::filesystem::temp_directory_path() / "megaup_spec_test.yaml";
  std::ofstream(path, std::ios::binary) << "spec_version: 1\nname: t\n" << kCells;
  CHECK(load_spec(path.string(), kKnown).file == path.string());
  std::ofstream(path, std::ios::binary) << std::string(2 << 20, '#');
  CHECK(message(path.string()).find("may have at most 1048576") != std::string::npos);
  std::filesystem::remove(path);
}
