#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch_test_macros.hpp>
#include <dnnl.hpp>

#include <megaup/core/buffer.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/matrix_sink.hpp>
#include <megaup/ops/matrix_source.hpp>
#include <megaup/ops/round_store.hpp>

/// The host GEMM beside oneDNN's own ways to multiply BF16 matrices, timed in turn in one process. Not part of the
/// tests:
///   OMP_NUM_THREADS=1 chrt -f 10 taskset -c 1 megaup_ops_tests "[host-gemm-benchmark]"
/// docs/benchmarks.md holds results and says how to read them.
namespace {

using namespace megaup;
using dnnl::memory;
using Type = memory::data_type;

constexpr int kRounds = 5;
constexpr double kTooSlow =
    1.7;  // times the best: who is slower runs once, so that the others are not spread over minutes

struct Contender {
  std::string name;
  bool reference;
  std::function<void()> run;
  std::vector<double> seconds;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

core::Bf16Matrix random_matrix(core::Buffer& memory, std::int64_t rows, std::int64_t columns, unsigned seed) {
  memory = core::Buffer(static_cast<std::size_t>(rows * columns) * sizeof(core::Bf16));
  const core::Bf16Matrix matrix{memory.as<core::Bf16>(), rows, columns, columns};
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::int64_t i = 0; i < rows * columns; ++i) matrix.data[i] = core::Bf16::from_float(uniform(random));
  return matrix;
}

/// All implementations that oneDNN has for a product, beginning with the one that it prefers.
struct Plans {
#if DNNL_VERSION_MAJOR >= 3
  dnnl::matmul::primitive_desc each;
  Plans(const dnnl::engine& engine, const memory::desc& a, const memory::desc& b, const memory::desc& c)
      : each(engine, a, b, c) {}
#else
  dnnl::matmul::desc desc;  // next_impl() reads it
  dnnl::matmul::primitive_desc each;
  Plans(const dnnl::engine& engine, const memory::desc& a, const memory::desc& b, const memory::desc& c)
      : desc(a, b, c), each(desc, engine) {}
#endif
};

/// A in P equal shards, read where it lies.
class Shards final : public ops::RowSource {
 public:
  Shards(core::ConstBf16Matrix a, std::int64_t P) : a_(a) {
    for (std::int64_t p = 0; p < P; ++p) segments_.push_back({p * a.columns / P, a.columns / P});
  }
  int shards() const override { return static_cast<int>(segments_.size()); }
  std::span<const Segment> segments(int shard) const override {
    return {&segments_[static_cast<std::size_t>(shard)], 1};
  }
  void wait(int) override {}
  const core::Bf16* row(int shard, int, std::int64_t i) const override {
    return a_.row(i) + segments_[static_cast<std::size_t>(shard)].k0;
  }

 private:
  core::ConstBf16Matrix a_;
  std::vector<Segment> segments_;
};

/// Each head of 128 columns to a place of its own, rows in another order: as the fused arms store.
class HeadScatter final : public ops::TileSink {
 public:
  explicit HeadScatter(core::Bf16Matrix c) : c_(c) {}
  void store(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns, const float* acc,
             std::int64_t ld) override {
    for (std::int64_t j = 0, width = 0; j < columns; j += width) {
      width = std::min(kHead - (j0 + j) % kHead, columns - j);
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t row = (i0 + i) % 2 * (c_.rows / 2) + (i0 + i) / 2;
        ops::round_store(c_.row(row) + j0 + j, acc + i * ld + j, width);
      }
    }
  }

 private:
  static constexpr std::int64_t kHead = 128;
  core::Bf16Matrix c_;
};

/// Operands of one GEMM and the ways to compute it.
class Race {
 public:
  explicit Race(const ops::GemmShape& shape) : g_(shape), a_(random_matrix(a_memory_, g_.m, g_.k, 1)) {
    b_ = g_.weight_transposed ? random_matrix(b_memory_, g_.n, g_.k, 2) : random_matrix(b_memory_, g_.k, g_.n, 2);
    c_ = random_matrix(c_memory_, g_.m, g_.n, 3);
    const auto wide = [](std::int64_t rows, std::int64_t columns) {
      return core::Buffer(static_cast<std::size_t>(rows * columns) * sizeof(float));
    };
    a32_ = wide(g_.m, g_.k), b32_ = wide(g_.n + 64, g_.k), c32_ = wide(g_.m, g_.n);
  }

  void add_references() {
    const auto a = plain(g_.m, g_.k, Type::bf16), b = weight(Type::bf16), c = plain(g_.m, g_.n, Type::bf16);
    add_matmuls("bf16, plain weight", a, b, c, {a_.data, b_.data, c_.data}, {});
    add_blocked(a, b, c);
    const auto a32 = plain(g_.m, g_.k, Type::f32), b32 = weight(Type::f32), c32 = plain(g_.m, g_.n, Type::f32);
    const auto widen = [this, to_a = reorder(a, a32, a_.data, a32_.as<void>()),
                        to_b = reorder(b, b32, b_.data, b32_.as<void>())] { to_a(), to_b(); };
    const auto narrow = reorder(c32, c, c32_.as<void>(), c_.data);
    add_matmuls("widened to f32, plain weight", a32, b32, c32, {a32_.as<void>(), b32_.as<void>(), c32_.as<void>()},
                {widen, narrow});
  }

  void add_providers(std::initializer_list<std::int64_t> shard_counts) {
    for (const ops::GemmProvider* provider : ops::gemm_providers()) {
      if (provider->infeasible(g_)) continue;
      for (const std::int64_t P : shard_counts) {
        const std::vector<std::int64_t> columns(static_cast<std::size_t>(P), g_.k / P);
        std::shared_ptr<ops::HostGemm> gemm = ops::prepare_host_gemm(provider->name, g_, columns, 1);
        contenders_.push_back({fmt::format("{}, {} shards, {}", provider->name, P, P == 1 ? "plain sink" : "head sink"),
                               false,
                               [this, gemm, P] {
                                 Shards a(a_, P);
                                 ops::MatrixSink in_place(c_);
                                 HeadScatter scattered(c_);
                                 gemm->run(a, b_, P == 1 ? static_cast<ops::TileSink&>(in_place) : scattered);
                               },
                               {}});
      }
    }
  }

  void run() {
    double best = std::numeric_limits<double>::infinity();
    for (Contender& contender : contenders_) best = std::min(best, time(contender));
    for (int round = 0; round < kRounds; ++round)
      for (Contender& contender : contenders_)
        if (contender.seconds[0] < kTooSlow * best) time(contender);
    for (Contender& contender : contenders_)  // the first time was for warming up
      if (contender.seconds.size() > 1) contender.seconds.erase(contender.seconds.begin());
  }

  void print() const {
    const Contender* best = nullptr;
    for (const Contender& c : contenders_)
      if (c.reference && (!best || median(c.seconds) < median(best->seconds))) best = &c;
    const double flop = 2.0 * static_cast<double>(g_.m) * static_cast<double>(g_.n) * static_cast<double>(g_.k);
    fmt::print("\nm {}, n {}, k {}, weight {}; share = time of \"{}\" / time, median of {} rounds\n", g_.m, g_.n, g_.k,
               g_.weight_transposed ? "[n, k]" : "[k, n]", best->name, kRounds);
    fmt::print("{:<55} {:>9} {:>9} {:>9} {:>8} {:>7}\n", "", "median ms", "min", "max", "GFLOP/s", "share");
    for (const Contender& c : contenders_) {
      std::vector<double> shares;
      for (std::size_t i = 0; i < c.seconds.size(); ++i) shares.push_back(best->seconds[i] / c.seconds[i]);
      const auto [least, most] = std::ranges::minmax(c.seconds);
      fmt::print("{:<55} {:>9.2f} {:>9.2f} {:>9.2f} {:>8.1f} {:>7.3f}\n",
                 (c.reference ? "oneDNN " : "megaup ") + c.name, median(c.seconds) * 1e3, least * 1e3, most * 1e3,
                 flop / median(c.seconds) * 1e-9, median(shares));
    }
  }

 private:
  static double time(Contender& contender) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // Linux stops real-time processes that never rest
    const auto begin = std::chrono::steady_clock::now();
    contender.run();
    return contender.seconds.emplace_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  struct Around {
    std::function<void()> before, after;
  };
  memory::desc plain(std::int64_t rows, std::int64_t columns, Type type) const {
    return {{rows, columns}, type, memory::dims{columns, 1}};
  }
  memory::desc weight(Type type) const {
    return {{g_.k, g_.n}, type, g_.weight_transposed ? memory::dims{1, g_.k} : memory::dims{g_.n, 1}};
  }
  std::function<void()> reorder(const memory::desc& from, const memory::desc& to, void* from_data, void* to_data) {
    memory source(from, engine_, from_data), target(to, engine_, to_data);
    return [this, reorder = dnnl::reorder(source, target), source, target]() mutable {
      reorder.execute(stream_, source, target);
      stream_.wait();
    };
  }
  std::function<void()> product(const dnnl::matmul::primitive_desc& plan, std::array<void*, 3> data) {
    const memory a(plan.src_desc(), engine_, data[0]), b(plan.weights_desc(), engine_, data[1]),
        c(plan.dst_desc(), engine_, data[2]);
    return [this, matmul = dnnl::matmul(plan), a, b, c] {
      matmul.execute(stream_, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
      stream_.wait();
    };
  }
  /// Every implementation that oneDNN has for these matrices, but not its reference loops.
  void add_matmuls(const std::string& name, const memory::desc& a, const memory::desc& b, const memory::desc& c,
                   std::array<void*, 3> data, const Around& around) {
    Plans plans(engine_, a, b, c);
    do {
      const std::string implementation = plans.each.impl_info_str();
      if (implementation.starts_with("ref")) continue;
      contenders_.push_back({name + ", " + implementation,
                             true,
                             [around, matmul = product(plans.each, data)] {
                               if (around.before) around.before();
                               matmul();
                               if (around.after) around.after();
                             },
                             {}});
    } while (plans.each.next_impl());
  }
  void add_blocked(const memory::desc& a, const memory::desc& b, const memory::desc& c) {
    const memory::desc any({g_.k, g_.n}, Type::bf16, memory::format_tag::any);
    const auto plan = Plans(engine_, a, any, c).each;
    contenders_.push_back({"bf16, weight reordered to its blocked format",
                           true,
                           [pack = reorder(b, plan.weights_desc(), b_.data, b32_.as<void>()),
                            matmul = product(plan, {a_.data, b32_.as<void>(), c_.data})] { pack(), matmul(); },
                           {}});
  }

  ops::GemmShape g_;
  core::Buffer a_memory_, b_memory_, c_memory_, a32_, b32_, c32_;
  core::Bf16Matrix a_, b_, c_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<Contender> contenders_;
};

void race(const ops::GemmShape& shape, std::initializer_list<std::int64_t> shard_counts) {
  Race race(shape);
  race.add_references();
  race.add_providers(shard_counts);
  race.run();
  race.print();
  fmt::print("fastest_gemm_provider says {}\n", ops::fastest_gemm_provider(shape, 1));
}

}  // namespace

TEST_CASE("host GEMM benchmark: quickstart", "[.host-gemm-benchmark]") {
  race({128, 5120, 2048, true}, {1, 2});
  race({128, 2048, 4096, true}, {1, 2});
  race({128, 4096, 2048, false}, {1, 2});
  race({128, 2048, 5120, false}, {1, 2});
}
TEST_CASE("host GEMM benchmark: qkv_fwd of Llama 3.1 8B", "[.host-gemm-benchmark]") {
  race({2048, 6144, 4096, true}, {1, 2, 4, 8});
}
TEST_CASE("host GEMM benchmark: out_fwd of Llama 3.1 8B", "[.host-gemm-benchmark]") {
  race({2048, 4096, 4096, true}, {1, 2, 4, 8});
}
TEST_CASE("host GEMM benchmark: out_dgrad of Llama 3.1 8B", "[.host-gemm-benchmark]") {
  race({2048, 4096, 4096, false}, {1, 2, 4, 8});
}
TEST_CASE("host GEMM benchmark: qkv_dgrad of Llama 3.1 8B", "[.host-gemm-benchmark]") {
  race({2048, 4096, 6144, false}, {1, 2, 4, 8});
}
