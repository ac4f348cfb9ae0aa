// The gate's test of itself: a check that has never failed proves nothing.
#include <algorithm>
#include <cmath>
#include <utility>

#include <megaup/ops/gate.hpp>
#include <megaup/ops/gate_tensors.hpp>
#include <megaup/ops/numeric_check.hpp>
#include <megaup/ops/reference.hpp>
#include <megaup/ops/structure_check.hpp>

namespace megaup::ops {
namespace {

using core::Bf16;
using core::Bf16Matrix;

void swap_columns(Bf16Matrix a, std::int64_t a0, Bf16Matrix b, std::int64_t b0, std::int64_t n) {
  for (std::int64_t i = 0; i < a.rows; ++i) std::swap_ranges(a.row(i) + a0, a.row(i) + a0 + n, b.row(i) + b0);
}

/// Swaps two heads of this rank: query heads 0 and 1, or where there is one query head that and the key, or where there
/// is no key its halves. Undone by a second call. False if nothing is there to be swapped: one head of one feature.
bool swap_heads(const HeadTensors& heads, const core::Problem& p) {
  const Bf16Matrix query = heads[core::Head::query], key = heads[core::Head::key];
  if (query.columns >= 2 * p.D)
    swap_columns(query, 0, query, p.D, p.D);
  else if (key.columns > 0)
    swap_columns(query, 0, key, 0, p.D);
  else
    swap_columns(query, 0, query, p.D / 2, p.D / 2);
  return query.columns > 1 || key.columns > 0;
}

void swap_rows(Bf16Matrix m, std::int64_t a, std::int64_t b) {
  std::swap_ranges(m.row(a), m.row(a) + m.columns, m.row(b));
}

/// Damages and their outcome. `seen` answers whether this rank's check fails now.
class SelfTest {
 public:
  SelfTest(PreparedOperation& prepared, Operands& operands, comm::Communicator& group, const Expectation& expected)
      : prepared_(prepared), operands_(operands), group_(group), expected_(expected) {}

  std::vector<std::string> run() {
    numeric();
    structure();
    fill_inputs(operands_, expected_.key);
    return unseen_;
  }

 private:
  bool gemm_first() const { return operands_.operation().kind == Kind::gemm_to_a2a; }
  Bf16Matrix last_output() const { return output_matrices(operands_, prepared_.current_set()).back().matrix; }
  Bf16Matrix first_output() const { return output_matrices(operands_, prepared_.current_set()).front().matrix; }
  void rerun() {
    operands_.inputs_to_device();  // with the damage
    run_poisoned(prepared_, operands_, group_);
  }

  /// Every rank must have seen the damage.
  void record(const std::string& damage, bool seen_here) {
    if (group_.any(!seen_here)) unseen_.push_back(damage);
  }

  void numeric() {
    fill_inputs(operands_, expected_.key);
    run_poisoned(prepared_, operands_, group_);
    const std::string refused = finding();
    record("numeric pass: a correct result was refused, " + refused, refused.empty());
    damage_output();
    if (gemm_first())
      damage_heads_written();
    else
      damage_heads_read();
    bool could_vary = false;
    for (const NamedMatrix& input : input_matrices(operands_)) {
      write_rows(input.matrix, operands_.host_threads(),
                 [](std::int64_t, std::span<Bf16> row) { std::ranges::fill(row, Bf16::from_float(1)); });
      could_vary = could_vary || input.matrix.rows * input.matrix.columns > 1;
    }
    // The output is still damaged, so that only the words tell.
    record("numeric pass: constant input", !could_vary || finding().starts_with("constant input"));
  }

  std::string finding() const {
    return numeric_finding(operands_, prepared_.current_set(), expected_.rows, expected_.values).why;
  }

  void damage_output() {
    const Bf16Matrix first = first_output(), last = last_output();
    const std::int64_t one = expected_.rows.front(), other = expected_.rows.back();
    if (one != other) {
      swap_rows(first, one, other);
      record("numeric pass: two rows swapped", !finding().empty());
      swap_rows(first, one, other);
    }
    Bf16& element = last.row(other)[last.columns - 1];
    const auto k = static_cast<float>(gemm_shape(operands_.operation(), operands_.problem()).k);
    const Bf16 right = std::exchange(element, Bf16::from_float(element.to_float() + std::sqrt(k)));
    record("numeric pass: an element overwritten", !finding().empty());
    element = {0x7fc0};
    record("numeric pass: an element is NaN", !finding().empty());
    element = right;
  }

  /// gemm_to_a2a: the heads are the output.
  void damage_heads_written() {
    const HeadTensors heads = operands_.heads(prepared_.current_set());
    const bool swapped = swap_heads(heads, operands_.problem());
    record("numeric pass: two heads swapped", !swapped || !finding().empty());
    swap_heads(heads, operands_.problem());
    const auto tokens = reference::tokens(operands_.problem());
    const std::int64_t peer = (operands_.rank() + 1) % operands_.problem().P;
    const Bf16Matrix first = first_output();
    for (std::int64_t i = 0; i < first.rows; ++i)
      if (tokens[static_cast<std::size_t>(i)].rank == peer) std::fill_n(first.row(i), first.columns, kPoison);
    record("numeric pass: the exchange with one peer dropped", !finding().empty());
  }

  /// a2a_to_gemm: the heads are the input, so the operation runs again with the damage in every rank's heads.
  void damage_heads_read() {
    const bool swapped = swap_heads(operands_.heads(), operands_.problem());
    rerun();
    record("numeric pass: two heads swapped", !swapped || !finding().empty());
    const InputKey next{expected_.key.seed, expected_.key.launch + 1};  // what the launch after this one would bring
    for (const NamedMatrix& input : input_matrices(operands_))
      fill_random(input.matrix, RandomInput(next, input.tensor, operands_.rank()), operands_.host_threads());
    rerun();
    record("numeric pass: an exchange brought another launch's data", !finding().empty());
  }

  void structure() {
    bool rows_seen = false, heads_seen = false, element_seen = true;
    for (const StructurePass& pass : structure_passes(operands_.operation(), operands_.problem())) {
      if (pass.map > 0 || pass.replica > 0) continue;
      fill_structure(operands_, pass);
      run_poisoned(prepared_, operands_, group_);
      const auto difference = [&] { return structure_difference(operands_, prepared_.current_set(), pass); };
      const std::string refused = difference();
      record("structure pass: a correct result was refused, " + refused, refused.empty());
      const Bf16Matrix first = first_output();
      swap_rows(first, 0, first.rows - 1);
      rows_seen = rows_seen || !difference().empty() || first.rows == 1;
      swap_rows(first, 0, first.rows - 1);
      Bf16& element = last_output().row(0)[0];
      const Bf16 right = std::exchange(element, Bf16{static_cast<std::uint16_t>(element.bits ^ 1)});
      element_seen = element_seen && !difference().empty();
      element = right;
      const bool swapped = swap_heads(operands_.heads(gemm_first() ? prepared_.current_set() : 0), operands_.problem());
      if (!gemm_first()) rerun();
      heads_seen = heads_seen || !swapped || !difference().empty();
    }
    record("structure pass: two rows swapped", rows_seen);
    record("structure pass: an element changed by one bit", element_seen);
    record("structure pass: two heads swapped", heads_seen);
  }

  PreparedOperation& prepared_;
  Operands& operands_;
  comm::Communicator& group_;
  const Expectation& expected_;
  std::vector<std::string> unseen_;
};

}  // namespace

std::vector<std::string> self_test(PreparedOperation& prepared, Operands& operands, comm::Communicator& group,
                                   const Expectation& expected) {
  return SelfTest(prepared, operands, group, expected).run();
}

}  // namespace megaup::ops
