#include <array>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/error.hpp>
#include <megaup/experiments/spec.hpp>

using namespace megaup;
using namespace megaup::experiments;

namespace {

constexpr std::string_view kSpec =
    "spec_version: 1\n"
    "name: fused/v1\n"
    "workload: {batch: 010, format: bsdh}\n"
    "matrix:\n"
    "  model: [gpt-3-175b]   # \xc3\xbc\n"
    "  cp: [2, 1e1]\n"
    "  cp: [4]\n"
    "  \"\xc3\xa4\":\t[1:30]\n"
    "  tokens_per_rank: [\"64\"]\n"
    "measure:\n"
    "  observatons: 100\n"
    "  cell_timeout: 120\n"
    "  cadence: never\n"
    "backend: {device: cuda}\n";

constexpr std::string_view kMessage =
    "11 errors in bad.yaml\n"
    "bad.yaml:2:7: error: 'name' must be a name without '/', which would make folders of it, not 'fused/v1'\n"
    "  name: fused/v1\n"
    "        ^\n"
    "bad.yaml:3:19: error: 'batch' must be a whole number without leading zeros (they mean octal elsewhere), not "
    "'010'\n"
    "  workload: {batch: 010, format: bsdh}\n"
    "                    ^\n"
    "bad.yaml:3:32: error: 'format' must be one of sbhd, bshd, thd, not 'bsdh' (did you mean 'bshd'?)\n"
    "  workload: {batch: 010, format: bsdh}\n"
    "                                 ^\n"
    "bad.yaml:6:11: error: 'cp' must be a whole number, digits only (no sign, point, exponent, underscore or colon), "
    "not '1e1'\n"
    "    cp: [2, 1e1]\n"
    "            ^\n"
    "bad.yaml:7:3: error: duplicate key 'cp' on line 7: already given on line 6\n"
    "    cp: [4]\n"
    "    ^\n"
    "bad.yaml:8:3: error: unknown key '\xc3\xa4' in 'matrix'; known: model, hidden, query_heads, kv_heads, head_dim, "
    "cp, "
    "tokens_per_rank, sequence_length, batch, dtype, format, sequence_order, qkv_weight, kv_replication\n"
    "    \"\xc3\xa4\":\t[1:30]\n"
    "    ^\n"
    "bad.yaml:9:21: error: 'tokens_per_rank' must be a whole number, not the text \"64\" in quotes\n"
    "    tokens_per_rank: [\"64\"]\n"
    "                      ^\n"
    "bad.yaml:11:3: error: unknown key 'observatons' in 'measure' (did you mean 'observations'?)\n"
    "    observatons: 100\n"
    "    ^\n"
    "bad.yaml:12:17: error: 'cell_timeout' must be a number with a unit (ns, us, ms, s, min, h): write 120 s for "
    "seconds, not '120'\n"
    "    cell_timeout: 120\n"
    "                  ^\n"
    "bad.yaml:13:12: error: 'cadence' must be one of barrier, back_to_back, not 'never'\n"
    "    cadence: never\n"
    "             ^\n"
    "bad.yaml:14:19: error: 'device: cuda': this program was built without CUDA\n"
    "  backend: {device: cuda}\n"
    "                    ^";

}  // namespace

TEST_CASE("a spec with many mistakes: the whole message", "[spec]") {
  constexpr std::array<std::string_view, 2> operations{"qkv_fwd", "out_fwd"};
  constexpr std::array<std::string_view, 2> arms{"native_packed", "fused"};
  std::string message;
  try {
    parse_spec(kSpec, "bad.yaml", {operations, arms, {}});
  } catch (const core::Error& error) {
    message = error.what();
    CHECK(core::exit_status(error.kind()) == 2);
  }
  // One comparison a line, so that a difference is easy to see.
  std::string_view left = message, right = kMessage;
  while (!left.empty() || !right.empty()) {
    const auto a = left.substr(0, left.find('\n')), b = right.substr(0, right.find('\n'));
    CHECK(a == b);
    left.remove_prefix(std::min(left.size(), a.size() + 1));
    right.remove_prefix(std::min(right.size(), b.size() + 1));
  }
}
