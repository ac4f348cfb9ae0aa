#include <megaup/core/layout.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace megaup::core;

namespace {

using Row = std::vector<std::int64_t>;

constexpr ActivationFormat kFormats[] = {ActivationFormat::sbhd, ActivationFormat::bshd, ActivationFormat::thd};
constexpr SequenceOrder kOrders[] = {SequenceOrder::contiguous, SequenceOrder::dual_chunk};
constexpr QkvWeight kWeights[] = {QkvWeight::grouped, QkvWeight::concatenated};
constexpr Columns kColumns[] = {Columns::qkv, Columns::query};

Problem problem(std::int64_t P, std::int64_t B, std::int64_t s, std::int64_t Hq, std::int64_t Hk, std::int64_t D) {
  return {.P = P, .B = B, .s = s, .H = Hq * D, .Hq = Hq, .Hk = Hk, .D = D};
}

/// Positions of a rank's tokens, by the function under test.
Row positions(const Problem& p, std::int64_t r) {
  Row row;
  for (std::int64_t u = 0; u < p.s; ++u) row.push_back(TokenLayout{p}.position(r, u));
  return row;
}

/// The same from cards: 2P chunks are dealt from both ends.
Row dealt(std::int64_t P, std::int64_t S, std::int64_t r) {
  std::vector<Row> chunks;
  const std::int64_t length = S / (2 * P);
  for (std::int64_t c = 0; c < 2 * P; ++c) {
    Row chunk;
    for (std::int64_t i = 0; i < length; ++i) chunk.push_back(c * length + i);
    chunks.push_back(chunk);
  }
  for (std::int64_t turn = 0; turn < r; ++turn) {
    chunks.erase(chunks.begin());
    chunks.pop_back();
  }
  Row mine = chunks.front();
  mine.insert(mine.end(), chunks.back().begin(), chunks.back().end());
  return mine;
}

/// Every head of the wide matrix in the weight's order, written as loops over groups and kinds.
std::vector<HeadId> heads_in_order(const Problem& p, Columns columns) {
  std::vector<HeadId> heads;
  if (columns == Columns::query) {
    for (std::int64_t h = 0; h < p.Hq; ++h) heads.push_back({Head::query, h});
  } else if (p.qkv_weight == QkvWeight::grouped) {
    std::int64_t query = 0;
    for (std::int64_t group = 0; group < p.Hk; ++group) {
      for (std::int64_t j = 0; j < p.Hq / p.Hk; ++j) heads.push_back({Head::query, query++});
      heads.push_back({Head::key, group});
      heads.push_back({Head::value, group});
    }
  } else {
    for (std::int64_t h = 0; h < p.Hq; ++h) heads.push_back({Head::query, h});
    for (std::int64_t h = 0; h < p.Hk; ++h) heads.push_back({Head::key, h});
    for (std::int64_t h = 0; h < p.Hk; ++h) heads.push_back({Head::value, h});
  }
  return heads;
}

/// Ranks that hold a head, by dealing heads (or, with fewer heads than ranks, ranks) out in equal shares.
Row holders(const Problem& p, HeadId head) {
  const std::int64_t n = head.kind == Head::query ? p.Hq : p.Hk;
  Row ranks;
  for (std::int64_t r = 0; r < p.P; ++r) {
    const bool holds =
        n >= p.P ? (r * (n / p.P) <= head.index && head.index < (r + 1) * (n / p.P)) : r / (p.P / n) == head.index;
    if (holds) ranks.push_back(r);
  }
  return ranks;
}

std::vector<Problem> head_problems() {
  std::vector<Problem> out;
  for (const auto weight : kWeights)
    for (const auto& [P, Hq, Hk] : std::vector<std::tuple<int, int, int>>{{1, 8, 2},
                                                                          {2, 8, 2},
                                                                          {4, 8, 2},
                                                                          {8, 8, 2},
                                                                          {1, 4, 4},
                                                                          {2, 4, 4},
                                                                          {4, 4, 4},
                                                                          {8, 32, 8},
                                                                          {2, 32, 8},
                                                                          {4, 96, 96},
                                                                          {8, 64, 1},
                                                                          {2, 6, 2}}) {
      auto p = problem(P, 1, 2, Hq, Hk, 4);
      p.qkv_weight = weight;
      p.kv_replication = true;
      out.push_back(p);
    }
  return out;
}

}  // namespace

TEST_CASE("dual_chunk gives S = 16, P = 4 the rows of the worked example") {
  auto p = problem(4, 1, 4, 4, 4, 8);
  p.order = SequenceOrder::dual_chunk;
  CHECK(positions(p, 0) == Row{0, 1, 14, 15});
  CHECK(positions(p, 1) == Row{2, 3, 12, 13});
  CHECK(positions(p, 2) == Row{4, 5, 10, 11});
  CHECK(positions(p, 3) == Row{6, 7, 8, 9});
}

TEST_CASE("the ranks' rows one after the other restore natural order by the worked example's index") {
  auto p = problem(4, 1, 4, 4, 4, 8);
  p.order = SequenceOrder::dual_chunk;
  Row gathered, restore(16);
  for (std::int64_t r = 0; r < 4; ++r)
    for (const auto g : positions(p, r)) gathered.push_back(g);
  for (std::size_t i = 0; i < gathered.size(); ++i)
    restore[static_cast<std::size_t>(gathered[i])] = static_cast<std::int64_t>(i);
  CHECK(restore == Row{0, 1, 4, 5, 8, 9, 12, 13, 14, 15, 10, 11, 6, 7, 2, 3});
}

TEST_CASE("contiguous order gives each rank its run") {
  const auto p = problem(4, 1, 4, 4, 4, 8);
  CHECK(positions(p, 0) == Row{0, 1, 2, 3});
  CHECK(positions(p, 3) == Row{12, 13, 14, 15});
}

TEST_CASE("dual_chunk is dealing 2P chunks from both ends, whatever P and S") {
  for (const std::int64_t P : {1, 2, 3, 4, 8})
    for (const std::int64_t s : {2, 4, 6, 10}) {
      auto p = problem(P, 1, s, 24, 24, 8);
      p.order = SequenceOrder::dual_chunk;
      for (std::int64_t r = 0; r < P; ++r) CHECK(positions(p, r) == dealt(P, P * s, r));
    }
}

TEST_CASE("rows of the three formats are those of their definitions") {
  auto p = problem(2, 3, 4, 4, 4, 8);  // B = 3, s = 4, S = 8
  p.format = ActivationFormat::sbhd;   // row = u*B + b
  CHECK(TokenLayout{p}.sequence(7) == 1);
  CHECK(TokenLayout{p}.token(7) == 2);
  CHECK(TokenLayout{p}.destination_row(1, 7) == (4 + 2) * 3 + 1);
  for (const auto format : {ActivationFormat::bshd, ActivationFormat::thd}) {
    p.format = format;  // row = b*s + u
    CHECK(TokenLayout{p}.sequence(7) == 1);
    CHECK(TokenLayout{p}.token(7) == 3);
    CHECK(TokenLayout{p}.destination_row(1, 7) == 1 * 8 + 4 + 3);
  }
}

TEST_CASE("all ranks' rows together hit every destination row once") {
  for (const auto format : kFormats)
    for (const auto order : kOrders)
      for (const std::int64_t P : {1, 2, 4, 8})
        for (const std::int64_t B : {1, 3}) {
          auto p = problem(P, B, 6, 8, 8, 4);
          p.format = format;
          p.order = order;
          std::vector<int> hits(static_cast<std::size_t>(B * p.S()), 0);
          for (std::int64_t r = 0; r < P; ++r)
            for (std::int64_t m = 0; m < p.M(); ++m)
              ++hits.at(static_cast<std::size_t>(TokenLayout{p}.destination_row(r, m)));
          CHECK(std::all_of(hits.begin(), hits.end(), [](int n) { return n == 1; }));
        }
}

TEST_CASE("every element of the wide matrices lands on one element of each copy") {
  // (destination, kind, offset) of every element of every rank: no two alike, and as many as the destination tensors have.
  for (const auto columns : kColumns)
    for (const auto format : kFormats)
      for (const auto order : kOrders)
        for (auto p : head_problems()) {
          if (p.Hq > 32) continue;  // the widest adds time and nothing else
          p.format = format;
          p.order = order;
          p.B = 2;
          const HeadLayout heads{p, columns};
          std::map<std::pair<std::int64_t, int>, std::vector<int>> hits;
          for (std::int64_t q = 0; q < p.P; ++q)
            for (int kind = 0; kind < kHeadKinds; ++kind)
              hits[{q, kind}].assign(static_cast<std::size_t>(p.B * p.S() * heads.local_heads(Head(kind)) * p.D), 0);
          for (std::int64_t r = 0; r < p.P; ++r)
            for (std::int64_t m = 0; m < p.M(); ++m)
              for (std::int64_t j = 0; j < heads.heads(); ++j) {
                const auto head = heads.at(j);
                for (std::int64_t copy = 0; copy < heads.copies(head.kind); ++copy)
                  for (std::int64_t d = 0; d < p.D; ++d) {
                    const auto row = TokenLayout{p}.destination_row(r, m);
                    const auto offset = head_offset(row, heads.local_heads(head.kind), heads.local_head(head), p.D, d);
                    ++hits.at({heads.first_rank(head) + copy, static_cast<int>(head.kind)})
                          .at(static_cast<std::size_t>(offset));
                  }
              }
          bool once = true;
          for (const auto& [tensor, elements] : hits)
            once = once && std::all_of(elements.begin(), elements.end(), [](int n) { return n == 1; });
          CHECK(once);
        }
}

TEST_CASE("aligned runs of run_rows local rows go to contiguous rows, and longer runs do not") {
  for (const auto format : kFormats)
    for (const auto order : kOrders)
      for (const std::int64_t P : {1, 2, 4})
        for (const std::int64_t B : {1, 2, 3}) {
          auto p = problem(P, B, 8, 8, 8, 4);
          p.format = format;
          p.order = order;
          const TokenLayout rows{p};
          const auto contiguous = [&](std::int64_t n) {
            for (std::int64_t r = 0; r < P; ++r)
              for (std::int64_t m = 1; m < p.M(); ++m)
                if (m % n != 0 && rows.destination_row(r, m) != rows.destination_row(r, m - 1) + 1) return false;
            return true;
          };
          const auto n = rows.run_rows();
          REQUIRE(p.M() % n == 0);
          CHECK(contiguous(n));
          if (P > 1 && n < p.M()) CHECK_FALSE(contiguous(2 * n));
        }
}

TEST_CASE("a 128-row tile stays in one run from the sizes on that the operations' description names") {
  const auto run = [](std::int64_t M, ActivationFormat format, SequenceOrder order) {
    auto p = problem(2, 8, M / 8, 8, 8, 64);
    p.format = format;
    p.order = order;
    return TokenLayout{p}.run_rows();
  };
  CHECK(run(2048, ActivationFormat::bshd, SequenceOrder::dual_chunk) == 128);
  CHECK(run(2048, ActivationFormat::thd, SequenceOrder::dual_chunk) == 128);
  CHECK(run(1024, ActivationFormat::bshd, SequenceOrder::contiguous) == 128);
  CHECK(run(256, ActivationFormat::sbhd, SequenceOrder::dual_chunk) == 128);
}

TEST_CASE("four ranks hold KV heads 0, 0, 1, 1 of a model with two") {
  auto p = problem(4, 1, 4, 8, 2, 64);
  p.kv_replication = true;
  const HeadLayout heads{p, Columns::qkv};
  Row ids;
  for (std::int64_t rank = 0; rank < 4; ++rank)
    for (std::int64_t i = 0; i < heads.slab_heads(); ++i)
      if (const auto head = heads.slab_at(rank, i); head.kind == Head::key) ids.push_back(head.index);
  CHECK(ids == Row{0, 0, 1, 1});
  CHECK(p.kv_copies() == 2);
  CHECK(heads.first_rank({Head::key, 0}) == 0);
  CHECK(heads.first_rank({Head::value, 1}) == 2);
}

TEST_CASE("rank 1 of 2 holds q4 to q7, k1 and v1 in both weight orders") {
  auto p = problem(2, 1, 4, 8, 2, 64);
  const std::vector<HeadId> expected{{Head::query, 4}, {Head::query, 5}, {Head::query, 6},
                                     {Head::query, 7}, {Head::key, 1},   {Head::value, 1}};
  for (const auto weight : kWeights) {
    p.qkv_weight = weight;
    const HeadLayout heads{p, Columns::qkv};
    CHECK(heads.width() == 768);  // hidden 512: the width holds Q, K and V of D = 64, not heads of 96
    REQUIRE(heads.slab_heads() == 6);
    CHECK(heads.slab_width() == 384);
    std::vector<HeadId> held;
    for (std::int64_t i = 0; i < 6; ++i) held.push_back(heads.slab_at(1, i));
    CHECK(held == expected);
  }
}

TEST_CASE("columns of a small model in both weight orders, as literal numbers") {
  auto p = problem(1, 1, 2, 4, 2, 64);  // q0 q1 k0 v0 q2 q3 k1 v1, or q0 q1 q2 q3 k0 k1 v0 v1
  const auto columns = [&](QkvWeight weight) {
    p.qkv_weight = weight;
    const HeadLayout heads{p, Columns::qkv};
    Row out;
    for (const auto kind : {Head::query, Head::key, Head::value})
      for (std::int64_t h = 0; h < (kind == Head::query ? 4 : 2); ++h) out.push_back(heads.column({kind, h}));
    return out;
  };
  CHECK(columns(QkvWeight::grouped) == Row{0, 1, 4, 5, 2, 6, 3, 7});
  CHECK(columns(QkvWeight::concatenated) == Row{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("at() lists the heads in the weight's order and column() is its inverse") {
  for (const auto columns : kColumns)
    for (const auto& p : head_problems()) {
      const HeadLayout heads{p, columns};
      const auto expected = heads_in_order(p, columns);
      REQUIRE(heads.heads() == static_cast<std::int64_t>(expected.size()));
      for (std::int64_t j = 0; j < heads.heads(); ++j) {
        CHECK(heads.at(j) == expected[static_cast<std::size_t>(j)]);
        CHECK(heads.column(expected[static_cast<std::size_t>(j)]) == j);
      }
    }
}

TEST_CASE("slabs hold each destination's heads in the weight's order, and first_rank and local_head agree") {
  for (const auto columns : kColumns)
    for (const auto& p : head_problems()) {
      const HeadLayout heads{p, columns};
      for (std::int64_t rank = 0; rank < p.P; ++rank) {
        std::vector<HeadId> expected, held;
        std::array<std::int64_t, 3> seen{};
        for (const auto head : heads_in_order(p, columns)) {
          const auto ranks = holders(p, head);
          if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) continue;
          expected.push_back(head);
          CHECK(heads.first_rank(head) == ranks.front());
          CHECK(heads.copies(head.kind) == static_cast<std::int64_t>(ranks.size()));
          CHECK(heads.local_head(head) == seen[static_cast<std::size_t>(head.kind)]++);
        }
        for (std::int64_t i = 0; i < heads.slab_heads(); ++i) held.push_back(heads.slab_at(rank, i));
        // With replication the queries of a group live on several ranks, and a slab is [q k v] whatever the weight's order.
        if (columns == Columns::qkv && p.kv_copies() > 1)
          std::stable_sort(expected.begin(), expected.end(), [](HeadId a, HeadId b) { return a.kind < b.kind; });
        CHECK(held == expected);
        for (const auto kind : {Head::query, Head::key, Head::value})
          CHECK(heads.local_heads(kind) ==
                std::count_if(held.begin(), held.end(), [&](HeadId h) { return h.kind == kind; }));
      }
    }
}

TEST_CASE("grouped weights with whole groups a rank make one contiguous slab") {
  for (const std::int64_t P : {1, 2, 4, 8}) {
    const auto p = problem(P, 1, 2, 32, 8, 128);
    const HeadLayout heads{p, Columns::qkv};
    CHECK(heads.slab_width() == p.N() / P);
    for (std::int64_t rank = 0; rank < P; ++rank)
      for (std::int64_t i = 0; i < heads.slab_heads(); ++i)
        CHECK(heads.column(heads.slab_at(rank, i)) == rank * heads.slab_heads() + i);
  }
}

TEST_CASE("offsets are 64-bit: the last of 262144 rows of width 10240") {
  const auto p = problem(1, 1, 262144, 64, 8, 128);
  CHECK(p.N() == 10240);
  const auto last = head_offset(p.S() - 1, 64 + 2 * 8, 64 + 2 * 8 - 1, 128, 127);
  CHECK(last == 2684354559);
  CHECK(static_cast<std::int32_t>(static_cast<std::uint32_t>(last)) == -1610612737);  // what 32 bits would make of it
  // The first row whose end does not fit 31 bits.
  std::int64_t row = 0;
  while (head_offset(row, 80, 79, 128, 127) <= std::numeric_limits<std::int32_t>::max()) ++row;
  CHECK(row == 209715);
}

TEST_CASE("head sizes of 64, 96, 192 and 256 give rows without padding") {
  for (const std::int64_t D : {64, 96, 192, 256}) {
    const auto p = problem(2, 1, 64, 4, 2, D);
    CHECK(HeadLayout{p, Columns::qkv}.width() == 8 * D);
    CHECK(HeadLayout{p, Columns::query}.slab_width() == 2 * D);
    CHECK(head_offset(1, 2, 0, D, 0) == 2 * D);
  }
}
