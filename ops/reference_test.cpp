#include <megaup/ops/reference.hpp>

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

namespace megaup::ops::reference {
namespace {

const Operation& operation(std::string_view name) { return *find_operation(name); }

TEST_CASE("dual_chunk, S = 16, P = 4: tokens of each rank and their way back to natural order") {
  const core::Problem p{
      .P = 4, .B = 1, .s = 4, .H = 1, .Hq = 4, .Hk = 4, .D = 1, .order = core::SequenceOrder::dual_chunk};
  CHECK(head_rows(p) ==
        std::vector<std::vector<std::int64_t>>{{0, 1, 14, 15}, {2, 3, 12, 13}, {4, 5, 10, 11}, {6, 7, 8, 9}});
  std::vector<std::int64_t> restore;  // place in the ranks' tokens one after the other
  for (const LocalToken& token : tokens(p)) restore.push_back(token.rank * 4 + token.row);
  CHECK(restore == std::vector<std::int64_t>{0, 1, 4, 5, 8, 9, 12, 13, 14, 15, 10, 11, 6, 7, 2, 3});
}

TEST_CASE("rows of two sequences in each format") {
  core::Problem p{.P = 2, .B = 2, .s = 2, .H = 1, .Hq = 2, .Hk = 2, .D = 1};
  CHECK(head_rows(p) == std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}});
  p.format = core::ActivationFormat::bshd;
  CHECK(head_rows(p) == std::vector<std::vector<std::int64_t>>{{0, 1, 4, 5}, {2, 3, 6, 7}});
  p.format = core::ActivationFormat::thd;
  CHECK(head_rows(p) == std::vector<std::vector<std::int64_t>>{{0, 1, 4, 5}, {2, 3, 6, 7}});
}

/// First rank and local head of the head in each block of D columns.
std::vector<std::int64_t> blocks(const core::Problem& p, int tensor, std::int64_t rank) {
  std::vector<std::int64_t> found;
  const auto homes = head_columns(operation("qkv_fwd"), p);
  for (std::size_t n = 0; n < homes.size(); n += static_cast<std::size_t>(p.D))
    if (homes[n].tensor == tensor && rank >= homes[n].first_rank && rank < homes[n].first_rank + homes[n].copies)
      found.push_back(static_cast<std::int64_t>(n) / p.D);
  return found;
}

TEST_CASE("Hq = 8, Hk = 2, D = 64: 768 columns, and rank 1 of 2 has q4 to q7, k1 and v1 in both orders") {
  core::Problem p{.P = 2, .B = 1, .s = 1, .H = 512, .Hq = 8, .Hk = 2, .D = 64};
  CHECK(head_columns(operation("qkv_fwd"), p).size() == 768);
  CHECK(blocks(p, 0, 1) == std::vector<std::int64_t>{6, 7, 8, 9});
  CHECK(blocks(p, 1, 1) == std::vector<std::int64_t>{10});
  CHECK(blocks(p, 2, 1) == std::vector<std::int64_t>{11});
  p.qkv_weight = core::QkvWeight::concatenated;
  CHECK(blocks(p, 0, 1) == std::vector<std::int64_t>{4, 5, 6, 7});
  CHECK(blocks(p, 1, 1) == std::vector<std::int64_t>{9});
  CHECK(blocks(p, 2, 1) == std::vector<std::int64_t>{11});
}

TEST_CASE("Hq = 8, Hk = 2, P = 4 with replication: ranks hold KV heads 0, 0, 1, 1") {
  const core::Problem p{.P = 4,
                        .B = 1,
                        .s = 4,
                        .H = 1,
                        .Hq = 8,
                        .Hk = 2,
                        .D = 1,
                        .qkv_weight = core::QkvWeight::concatenated,
                        .kv_replication = true};
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    CHECK(blocks(p, 1, rank) == std::vector<std::int64_t>{8 + rank / 2});
    CHECK(blocks(p, 2, rank) == std::vector<std::int64_t>{10 + rank / 2});
  }
}

TEST_CASE("BF16 rounding is to nearest, ties to even") {
  CHECK(rounded_to_bf16(1.00390625) == 1.0);
  CHECK(rounded_to_bf16(1.01171875) == 1.015625);
  CHECK(rounded_to_bf16(-1.01171875) == -1.015625);
  CHECK(rounded_to_bf16(257) == 256);
  CHECK(rounded_to_bf16(259) == 260);
  CHECK(rounded_to_bf16(0.0) == 0.0);
}

/// Two ranks, two heads of one feature, two tokens each, by hand. Hidden of rank r, token m: (10r + m, 1).
Inputs small_inputs() {
  return {.hidden =
              [](std::int64_t rank, std::int64_t m, std::span<double> row) {
                row[0] = static_cast<double>(10 * rank + m);
                row[1] = 1;
              },
          .heads = [](std::int64_t rank, int tensor, std::int64_t row,
                      std::span<double> values) { values[0] = static_cast<double>(100 * rank + 10 * tensor + row); },
          .weight =
              [](std::int64_t row, std::span<double> values) {
                for (std::size_t j = 0; j < values.size(); ++j)
                  values[j] = static_cast<double>(row) + 0.5 * static_cast<double>(j);
              }};
}

TEST_CASE("GEMM first, by hand") {
  const core::Problem p{
      .P = 2, .B = 1, .s = 2, .H = 2, .Hq = 2, .Hk = 2, .D = 1, .qkv_weight = core::QkvWeight::concatenated};
  const std::vector<std::int64_t> rows{3, 0};
  // Row 3 is token 1 of rank 1, hidden (11, 1). Rank 1 has columns 1, 3, 5 of [q0 q1 k0 k1 v0 v1]; column n has weights
  // (n, n + 0.5).
  for (const int threads : {1, 2, 8}) {
    const Expected forward = heads(operation("qkv_fwd"), p, small_inputs(), 1, rows, threads);
    CHECK(forward.columns == 3);
    CHECK(forward.values == std::vector<double>{11 * 1 + 1.5, 11 * 3 + 3.5, 11 * 5 + 5.5, 0 * 1 + 1.5, 3.5, 5.5});
    // Wo is [H, Hq*D]: column 1 of it is (0.5, 1.5).
    const Expected backward = heads(operation("out_dgrad"), p, small_inputs(), 1, rows, threads);
    CHECK(backward.values == std::vector<double>{11 * 0.5 + 1.5, 1.5});
  }
}

TEST_CASE("A2A first, by hand") {
  const core::Problem p{
      .P = 2, .B = 1, .s = 2, .H = 2, .Hq = 2, .Hk = 2, .D = 1, .qkv_weight = core::QkvWeight::concatenated};
  const std::vector<std::int64_t> rows{1};
  // Token 1 of rank 1 is row 3. A = (O of rank 0, O of rank 1) = (3, 103). Wo row h = (h, h + 0.5).
  for (const int threads : {1, 2, 8}) {
    const Expected forward = hidden(operation("out_fwd"), p, small_inputs(), 1, rows, threads);
    CHECK(forward.values == std::vector<double>{103 * 0.5, 3 * 1 + 103 * 1.5});
    // A = (q0 q1 k0 k1 v0 v1) = (3, 103, 13, 113, 23, 123), Wqkv row n = (n, n + 0.5).
    const Expected backward = hidden(operation("qkv_dgrad"), p, small_inputs(), 1, rows, threads);
    const double sum = 103 * 1 + 13 * 2 + 113 * 3 + 23 * 4 + 123 * 5;
    CHECK(backward.values == std::vector<double>{sum, sum + 0.5 * (3 + 103 + 13 + 113 + 23 + 123)});
  }
}

TEST_CASE("copies of a KV head are added in FP32 and rounded once") {
  const core::Problem p{.P = 2,
                        .B = 1,
                        .s = 1,
                        .H = 1,
                        .Hq = 2,
                        .Hk = 1,
                        .D = 1,
                        .qkv_weight = core::QkvWeight::concatenated,
                        .kv_replication = true};
  Inputs inputs = small_inputs();
  inputs.heads = [](std::int64_t rank, int tensor, std::int64_t, std::span<double> values) {
    values[0] = tensor == 1 ? (rank == 0 ? 256.0 : 3.0) : 0.0;
  };
  inputs.weight = [](std::int64_t, std::span<double> values) { values[0] = 1; };
  const std::vector<std::int64_t> rows{0};
  CHECK(hidden(operation("qkv_dgrad"), p, inputs, 0, rows).values ==
        std::vector<double>{260});  // 259 is a tie between 258 and 260
}

}  // namespace
}  // namespace megaup::ops::reference
