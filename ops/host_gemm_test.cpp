#include <megaup/ops/host_gemm.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/core/error.hpp>
#include <megaup/ops/gemm_cut.hpp>
#include <megaup/ops/round_store.hpp>

using megaup::core::Bf16;
using megaup::core::ConstBf16Matrix;
using megaup::core::Error;
using megaup::ops::gemm_providers;
using megaup::ops::GemmProvider;
using megaup::ops::GemmShape;
using megaup::ops::HostGemm;
using megaup::ops::prepare_host_gemm;
using megaup::ops::RowSource;
using megaup::ops::TileSink;

namespace {

const Bf16 kNaN = Bf16::from_float(std::numeric_limits<float>::quiet_NaN());

/// A matrix inside a wider one whose gaps hold `gap`: reading a gap spoils the result. Its first element is on no
/// vector boundary.
struct Padded {
  std::int64_t rows, columns, ld;
  std::vector<Bf16> memory;

  Padded(std::int64_t n_rows, std::int64_t n_columns, std::int64_t padding, Bf16 gap, unsigned seed)
      : rows(n_rows),
        columns(n_columns),
        ld(n_columns + padding),
        memory(static_cast<std::size_t>(1 + n_rows * ld), gap) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) (*this)(i, j) = Bf16::from_float(normal(random));
  }
  Bf16& operator()(std::int64_t i, std::int64_t j) { return memory[static_cast<std::size_t>(1 + i * ld + j)]; }
  Bf16 operator()(std::int64_t i, std::int64_t j) const { return memory[static_cast<std::size_t>(1 + i * ld + j)]; }
  ConstBf16Matrix matrix() const { return {memory.data() + 1, rows, columns, ld}; }
};

/// The columns of `a` in shards of segments. It hands out copies of the rows, each in memory of its own and filled only
/// by wait(), so that a row that is read too early or beyond its end is seen: by its NaN, or by the address sanitizer.
class ShardedSource final : public RowSource {
 public:
  using Shards = std::vector<std::vector<Segment>>;

  ShardedSource(const Padded& a, Shards shards) : a_(a), shards_(std::move(shards)) {
    for (const auto& segments : shards_) {
      auto& shard = rows_.emplace_back();
      for (const Segment& segment : segments)
        shard.emplace_back(static_cast<std::size_t>(a.rows),
                           std::vector<Bf16>(static_cast<std::size_t>(segment.columns), kNaN));
    }
  }
  int shards() const override { return static_cast<int>(shards_.size()); }
  std::span<const Segment> segments(int shard) const override { return shards_[static_cast<std::size_t>(shard)]; }
  void wait(int shard) override {
    waits.push_back(shard);
    if (shard > 0) worked_before_second_wait = rows_of_first_shard > 0;
    const auto p = static_cast<std::size_t>(shard);
    for (std::size_t s = 0; s < shards_[p].size(); ++s)
      for (std::int64_t i = 0; i < a_.rows; ++i)
        for (std::int64_t j = 0; j < shards_[p][s].columns; ++j)
          rows_[p][s][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = a_(i, shards_[p][s].k0 + j);
  }
  const Bf16* row(int shard, int segment, std::int64_t i) const override {
    if (shard == 0) ++rows_of_first_shard;
    return rows_[static_cast<std::size_t>(shard)][static_cast<std::size_t>(segment)][static_cast<std::size_t>(i)]
        .data();
  }

  std::vector<int> waits;
  bool worked_before_second_wait = true;
  mutable std::int64_t rows_of_first_shard = 0;

 private:
  const Padded& a_;
  Shards shards_;
  std::vector<std::vector<std::vector<std::vector<Bf16>>>> rows_;
};

/// Keeps what it is given, and how often.
struct CountingSink final : TileSink {
  std::int64_t m, n;
  std::vector<float> c;
  std::vector<int> stored;

  CountingSink(std::int64_t rows, std::int64_t columns)
      : m(rows),
        n(columns),
        c(static_cast<std::size_t>(rows * columns), std::numeric_limits<float>::quiet_NaN()),
        stored(c.size()) {}
  void store(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns, const float* acc,
             std::int64_t ld) override {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>((i0 + i) * n + j0 + j);
        c.at(at) = acc[i * ld + j];
        ++stored.at(at);
      }
  }
  bool each_once() const {
    return std::ranges::all_of(stored, [](int times) { return times == 1; });
  }
};

std::vector<std::int64_t> columns_of(const ShardedSource::Shards& shards) {
  std::vector<std::int64_t> columns;
  for (const auto& segments : shards) {
    columns.push_back(0);
    for (const auto& segment : segments) columns.back() += segment.columns;
  }
  return columns;
}

/// Whether every element of `c` is within its error bound.
///
/// The exact sum of k products p_l is compared with a sum in FP32 of any order. Products of two BF16 numbers are exact
/// in FP32, and each of the at most k additions that a product goes through errs by a factor (1 + d), |d| <= u = 2^-24.
/// So |C - exact| <= g * sum |p_l| with g = k*u / (1 - k*u). The BF16 dot product instructions also flush subnormal
/// numbers, at most 2^-126 for each product.
bool within_bound(const CountingSink& c, const Padded& a, const Padded& b, const GemmShape& g) {
  const double ku = static_cast<double>(g.k) * 0x1p-24;
  for (std::int64_t i = 0; i < g.m; ++i)
    for (std::int64_t j = 0; j < g.n; ++j) {
      double exact = 0, magnitude = 0;
      for (std::int64_t l = 0; l < g.k; ++l) {
        const double product =
            double{a(i, l).to_float()} * double{(g.weight_transposed ? b(j, l) : b(l, j)).to_float()};
        exact += product;
        magnitude += std::abs(product);
      }
      const double bound = ku / (1 - ku) * magnitude + static_cast<double>(g.k) * 0x1p-126;
      const double error = std::abs(double{c.c[static_cast<std::size_t>(i * g.n + j)]} - exact);
      if (!(error <= bound)) {  // so that NaN fails
        UNSCOPED_INFO("element (" << i << ", " << j << "): error " << error << " above " << bound);
        return false;
      }
    }
  return true;
}

struct Setup {
  GemmShape shape;
  ShardedSource::Shards shards;
  std::int64_t padding;
};

Padded weight_of(const Setup& s, Bf16 gap) {
  return s.shape.weight_transposed ? Padded(s.shape.n, s.shape.k, s.padding, gap, 2)
                                   : Padded(s.shape.k, s.shape.n, s.padding, gap, 2);
}

void check(const GemmProvider& provider, const Setup& s) {
  CAPTURE(provider.name, s.shape.m, s.shape.n, s.shape.k, s.shape.weight_transposed, s.shards.size(), s.padding);
  const Padded a(s.shape.m, s.shape.k, s.padding, kNaN, 1), b = weight_of(s, kNaN);
  const auto gemm = prepare_host_gemm(provider.name, s.shape, columns_of(s.shards), 1);
  CHECK(gemm->rows() == s.shape.m);
  std::vector<float> first;
  for (int run = 0; run < 2; ++run) {
    ShardedSource source(a, s.shards);
    CountingSink sink(s.shape.m, s.shape.n);
    gemm->run(source, b.matrix(), sink);
    CHECK(sink.each_once());
    CHECK(within_bound(sink, a, b, s.shape));
    std::vector<int> in_order(s.shards.size());
    for (std::size_t p = 0; p < in_order.size(); ++p) in_order[p] = static_cast<int>(p);
    CHECK(source.waits == in_order);
    CHECK(source.worked_before_second_wait);
    if (run == 0)
      first = sink.c;
    else
      CHECK(sink.c == first);  // the same bits
  }
}

std::vector<const GemmProvider*> usable_providers(const GemmShape& shape) {
  std::vector<const GemmProvider*> usable;
  for (const GemmProvider* p : gemm_providers())
    if (!p->infeasible(shape)) usable.push_back(p);
  return usable;
}

/// All of k in `parts` shards of one segment each, as even as can be.
ShardedSource::Shards even_shards(std::int64_t k, std::int64_t parts) {
  ShardedSource::Shards shards;
  for (std::int64_t p = 0; p < parts; ++p) shards.push_back({{p * k / parts, (p + 1) * k / parts - p * k / parts}});
  return shards;
}

}  // namespace

TEST_CASE("the host GEMM is right for odd sizes, both weight layouts and padded matrices") {
  for (const bool transposed : {true, false})
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                  {1, 1, 7},
                                  {5, 1, 3},
                                  {1, 9, 1},
                                  {3, 2, 1},
                                  {17, 33, 65},
                                  {130, 200, 96},
                                  {64, 256, 128},
                                  {67, 300, 61},
                                  {300, 515, 33},
                                  {2100, 4, 5},
                                  {3, 2300, 4}})
      for (const std::int64_t padding : {0, 5})
        for (const GemmProvider* provider : usable_providers({m, n, k, transposed}))
          check(*provider, {{m, n, k, transposed}, even_shards(k, 1), padding});
}

TEST_CASE("the host GEMM adds up shards of any width and number of segments") {
  for (const bool transposed : {true, false}) {
    const GemmShape shape{70, 330, 96, transposed};
    const std::vector<ShardedSource::Shards> cases{
        even_shards(96, 2),
        even_shards(96, 8),
        {{{95, 1}}, {{0, 95}}},                                       // uneven, the last columns first
        {{{32, 32}}, {{64, 32}}, {{0, 32}}},                          // own shard first, then around
        {{{0, 16}, {16, 8}, {48, 8}}, {{24, 24}, {56, 8}, {64, 32}}}  // segments, some adjacent
    };
    for (const auto& shards : cases)
      for (const std::int64_t padding : {0, 3})
        for (const GemmProvider* provider : usable_providers(shape)) check(*provider, {shape, shards, padding});
    for (const GemmProvider* provider : usable_providers({9, 20, 3, transposed}))  // narrower than the first panel
      check(*provider, {{9, 20, 3, transposed}, even_shards(3, 3), 0});
  }
}

TEST_CASE("C is cut in even tiles, with a narrow first panel only where there are several shards") {
  using megaup::ops::gemm_cut;
  const auto one = gemm_cut({2048, 6144, 4096, true}, 1, false, 2),
             two = gemm_cut({2048, 6144, 4096, true}, 2, false, 2);
  CHECK((one.tile_rows == 2048 && one.first_panel == 0 && one.panel == 2048));
  CHECK((two.tile_rows == 2048 && two.first_panel == 256 && two.panel == 1984));
  CHECK(gemm_cut({5000, 100, 64, true}, 1, false, 2).tile_rows ==
        1728);  // three tiles of at most 2048 rows, in steps of 64
  CHECK(gemm_cut({128, 5120, 2048, true}, 1, true, 2).panel == 512);
  CHECK((gemm_cut({8, 100, 64, true}, 2, false, 2).first_panel == 100 &&
         gemm_cut({8, 100, 64, true}, 2, false, 2).panel == 0));
}

TEST_CASE("the host GEMM multiplies in row chunks with one load of the weight") {
  const Setup s{{300, 400, 50, true}, even_shards(50, 2), 0};
  const Padded a(300, 50, 0, kNaN, 1), b = weight_of(s, kNaN);
  for (const GemmProvider* provider : usable_providers(s.shape)) {
    const auto gemm = prepare_host_gemm(provider->name, s.shape, columns_of(s.shards), 1);
    for (const std::int64_t steps : {1, 2, 3}) {
      CAPTURE(provider->name, steps);
      const std::int64_t chunk = steps * gemm->row_step();
      ShardedSource source(a, s.shards);
      CountingSink sink(300, 400);
      gemm->load(b.matrix());
      for (std::int64_t i = 0; i < 300; i += chunk) gemm->multiply(source, i, std::min(chunk, 300 - i), sink);
      CHECK(sink.each_once());
      CHECK(within_bound(sink, a, b, s.shape));
    }
  }
}

TEST_CASE("partial sums are FP32: shards that cancel leave what lies between them") {  // case 17
  const GemmShape shape{1, 1, 4, true};
  Padded a(1, 4, 0, kNaN, 1), b(1, 4, 0, kNaN, 2);
  const std::array<float, 4> values{1000, 1, -1000, 0};
  for (std::int64_t l = 0; l < 4; ++l) {
    a(0, l) = Bf16::from_float(values[static_cast<std::size_t>(l)]);
    b(0, l) = Bf16::from_float(1);
  }
  for (const GemmProvider* provider : usable_providers(shape)) {
    CAPTURE(provider->name);
    const auto shards = even_shards(4, 2);
    ShardedSource source(a, shards);
    CountingSink sink(1, 1);
    prepare_host_gemm(provider->name, shape, columns_of(shards), 1)->run(source, b.matrix(), sink);
    CHECK(sink.c[0] == 1.0f);
  }
}

TEST_CASE("what an earlier run left behind does not reach a later one") {  // case 21
  for (const bool transposed : {true, false}) {
    const Setup s{{130, 300, 40, transposed}, even_shards(40, 2), 0};
    const Padded a(130, 40, 0, kNaN, 1), b = weight_of(s, kNaN);
    Padded spoiled = a;
    std::ranges::fill(spoiled.memory, kNaN);
    for (const GemmProvider* provider : usable_providers(s.shape)) {
      CAPTURE(provider->name, transposed);
      const auto gemm = prepare_host_gemm(provider->name, s.shape, columns_of(s.shards), 1);
      ShardedSource nan_source(spoiled, s.shards), source(a, s.shards);
      CountingSink nan_sink(130, 300), sink(130, 300);
      gemm->run(nan_source, b.matrix(), nan_sink);
      CHECK(std::ranges::all_of(nan_sink.c, [](float x) { return std::isnan(x); }));
      gemm->run(source, b.matrix(), sink);
      CHECK(within_bound(sink, a, b, s.shape));
    }
  }
}

TEST_CASE("ranks that are threads multiply at the same time, each with a GEMM of its own") {
  const Setup s{{65, 300, 70, true}, even_shards(70, 2), 0};
  const Padded a(65, 70, 0, kNaN, 1), b = weight_of(s, kNaN);
  for (const GemmProvider* provider : usable_providers(s.shape)) {
    CAPTURE(provider->name);
    std::vector<CountingSink> sinks(3, CountingSink(65, 300));
    {
      std::vector<std::jthread> ranks;
      for (CountingSink& sink : sinks)
        ranks.emplace_back([&] {
          const auto gemm = prepare_host_gemm(provider->name, s.shape, columns_of(s.shards), 1);
          for (int run = 0; run < 5; ++run) {
            ShardedSource source(a, s.shards);
            gemm->run(source, b.matrix(), sink);
          }
        });
    }
    CHECK(within_bound(sinks[0], a, b, s.shape));
    for (const CountingSink& sink : sinks) {
      CHECK(sink.c == sinks[0].c);
      CHECK(std::ranges::all_of(sink.stored, [](int times) { return times == 5; }));
    }
  }
}

#ifndef __SANITIZE_THREAD__  // which does not see what GCC's OpenMP library orders
TEST_CASE("the host GEMM on several cores of one rank is right, whatever number the caller's OpenMP has") {
  const Setup s{{200, 600, 70, true}, even_shards(70, 2), 0};
  const Padded a(200, 70, 0, kNaN, 1), b = weight_of(s, kNaN);
  for (const GemmProvider* provider : usable_providers(s.shape)) {
    CAPTURE(provider->name);
    const auto gemm = prepare_host_gemm(provider->name, s.shape, columns_of(s.shards), 3);
    ShardedSource source(a, s.shards);
    CountingSink sink(200, 600);
    gemm->run(source, b.matrix(), sink);
    CHECK(sink.each_once());
    CHECK(within_bound(sink, a, b, s.shape));
  }
}
#endif

TEST_CASE("a provider that cannot be used is refused with its reason") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(prepare_host_gemm("fast", {1, 1, 1, true}, {}, 1),
                    ContainsSubstring("'fast'") && ContainsSubstring("onednn_bf16, "));
  CHECK_THROWS_WITH(prepare_host_gemm("onednn_f32_dense", {1, 1, 1, false}, {}, 1), ContainsSubstring("not dense"));
  const std::array<std::int64_t, 2> shards{3, 4};
  CHECK_THROWS_WITH(prepare_host_gemm("onednn_f32", {1, 1, 8, true}, shards, 1),
                    ContainsSubstring("3 + 4") && ContainsSubstring("k = 8"));
}

TEST_CASE("the fastest provider is one that can be used") {
  const GemmShape shape{40, 50, 60, false};
  const std::string fastest = megaup::ops::fastest_gemm_provider(shape, 1);
  CHECK(std::ranges::any_of(usable_providers(shape), [&](const GemmProvider* p) { return p->name == fastest; }));
}

TEST_CASE("rounding to BF16 while storing gives the bits of Bf16::from_float for every upper half and NaN") {
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const std::uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<Bf16> rounded(values.size());
  megaup::ops::round_store(rounded.data(), values.data(), n);
  CHECK(std::ranges::equal(rounded, values, {}, {}, [](float x) { return Bf16::from_float(x); }));

  for (std::int64_t columns = 0; columns < 70; ++columns) {  // nothing beyond the last column, on no vector boundary
    std::vector<Bf16> row(72, Bf16{0x7777});
    megaup::ops::round_store(row.data() + 1, values.data() + 3, columns);
    for (std::int64_t j = 0; j < 72; ++j) {
      const Bf16 expected =
          j >= 1 && j <= columns ? Bf16::from_float(values[static_cast<std::size_t>(2 + j)]) : Bf16{0x7777};
      CHECK(row[static_cast<std::size_t>(j)] == expected);
    }
  }
}

TEST_CASE("rounding to BF16 is to nearest, ties to even") {  // case 19
  const std::array<float, 6> values{1.00390625f, 1.01171875f, 3.4e38f, -1.01171875f, 1.0f + 0x1p-8f + 0x1p-20f,
                                    0x1p-130f};
  const std::array<float, 6> expected{1.0f,       1.015625f,  std::numeric_limits<float>::infinity(),
                                      -1.015625f, 1.0078125f, 0x1p-130f};
  std::array<Bf16, 6> rounded;
  megaup::ops::round_store(rounded.data(), values.data(), 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(rounded[i].to_float() == expected[i]);
}
