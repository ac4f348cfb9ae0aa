#include <array>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/error.hpp>
#include <megaup/experiments/embedded.hpp>
#include <megaup/experiments/plan.hpp>

using namespace megaup;
using namespace megaup::experiments;

namespace {

constexpr std::array<std::string_view, 4> kOperations{"qkv_fwd", "out_fwd", "out_dgrad", "qkv_dgrad"};
constexpr std::array<std::string_view, 4> kArms{"native_packed", "native_pipelined", "native_chunked", "fused"};
constexpr std::array<std::string_view, 3> kBounds{"gemm_only", "exchange_only", "reorder_only"};

/// Reads and plans a text. Either it is a spec, or it is refused with a message that starts with a count and names a place.
/// Returns whether it was one; any other exception fails the test.
bool accepted(const std::string& yaml) {
  try {
    const Spec spec = parse_spec(yaml, "f.yaml", {kOperations, kArms, kBounds});
    plan_table(plan(spec, {.cell_limit = 1000}), 100);
    return true;
  } catch (const core::Error& error) {
    const std::string message = error.what();
    const bool sound = error.kind() == core::ErrorKind::usage && message.find("f.yaml") != std::string::npos &&
                       message.size() < 200'000;
    if (!sound) FAIL("not a sound refusal: " << message << "\nof\n" << yaml);
    return false;
  }
}

/// Changes that keep most of the structure: what people do to a file by mistake, and worse.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::array<std::string_view, 24> pieces{"\t",
                                                    "\n",
                                                    ": ",
                                                    "- ",
                                                    "[",
                                                    "]",
                                                    "{",
                                                    "}",
                                                    "\"",
                                                    "'",
                                                    "&a ",
                                                    "*a",
                                                    "<<: ",
                                                    "#",
                                                    "|",
                                                    "? ",
                                                    "---\n",
                                                    "!!x ",
                                                    "%",
                                                    "\xc3\xbc",
                                                    "\xff",
                                                    "0",
                                                    "999999999999999999999",
                                                    "~"};
  const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::size_t changes = 1 + pick(4);
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = pick(text.size());
    switch (pick(4)) {
      case 0: text.insert(at, pieces[pick(pieces.size())]); break;
      case 1: text.erase(at, 1 + pick(20)); break;
      case 2: text[at] = static_cast<char>(pick(256)); break;
      default: text.insert(at, text.substr(pick(text.size()), pick(60))); break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("mutated specs are read or refused, never worse", "[spec][fuzz]") {
  std::mt19937 random(20261129);
  int read = 0, refused = 0;
  for (int round = 0; round < 400; ++round)
    for (const auto& file : embedded_specs()) ++(accepted(mutated(std::string(file.bytes), random)) ? read : refused);
  CHECK(read > 50);  // mutations in comments and the like: the test reaches both outcomes
  CHECK(refused > 500);
}

TEST_CASE("random bytes are refused", "[spec][fuzz]") {
  std::mt19937 random(7);
  constexpr std::string_view alphabet = "{}[]:,-?&*!|>'\"%@`# \n\tab0.<~=";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const int length = std::uniform_int_distribution(0, 200)(random);
    for (int i = 0; i < length; ++i)
      text += round % 2 == 0 ? static_cast<char>(std::uniform_int_distribution(0, 255)(random))
                             : alphabet[std::uniform_int_distribution<std::size_t>(0, alphabet.size() - 1)(random)];
    CHECK_FALSE(accepted(text));
  }
}

/// Without the bounds of the reader some of these would take hours: the time limit of the test is the check.
TEST_CASE("large hostile files are refused in bounded time", "[spec][fuzz]") {
  const std::size_t size = 1 << 20;
  const auto repeated = [&](std::string_view piece, std::string head = "") {
    while (head.size() + piece.size() <= size) head += piece;
    return head;
  };
  for (const std::string_view piece :
       {"[",    "{",    "- ",    "a: ",    "\"", "'",   "? ",     "&a ",  "*a ",  "!",    "\n", "#",        "a\n",
        "[a, ", "{a: ", "- a\n", "a: 1\n", "x",  "|\n", "a: |\n", "--- ", "%x\n", "[]\n", ",",  "\xc3\xbc", "<<: *a\n"})
    CHECK_FALSE(accepted(repeated(piece)));
  // Many uses of a long list; without a bound they would be 10^10 values.
  CHECK_FALSE(accepted(repeated("*l, ", repeated("1, ", "a: &l [").substr(0, size / 2) + "]\nb: [")));
}
