#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

#include <dnnl.hpp>
#include <fmt/format.h>
#include <omp.h>

#include <megaup/core/buffer.hpp>
#include <megaup/core/error.hpp>
#include <megaup/ops/host_gemm.hpp>

/// The host GEMM over oneDNN's matmul.
///
///   A tile [rows, k]   gathered from the RowSource once, in the type T of the multiplication
///   B [k, n]           BF16: used where it lies; FP32: widened by load()
///   acc [rows, panel]  FP32; given to the sink when complete over k, then overwritten by the next panel
///
/// With several shards the first panel, a narrow one, is accumulated shard by shard, so that there is work to do while later shards are
/// still on their way. Every other panel is one product over all of k. docs/decisions/0004 has the measurements behind this.
namespace megaup::ops {

extern constinit const GemmProvider onednn_bf16_provider, onednn_bf16_dense_provider, onednn_f32_provider, onednn_f32_dense_provider;

namespace {

using Dims = dnnl::memory::dims;
using DataType = dnnl::memory::data_type;

constexpr std::int64_t kMaxTileRows = 2048;
constexpr std::int64_t kDenseTileRows = 256;
constexpr std::int64_t kRowStep = 64;
constexpr std::int64_t kFirstPanel = 256;  // long enough to hide a late peer, short enough not to be felt
constexpr std::int64_t kMinPanel = 512, kMaxPanel = 2048;  // each product packs its A anew: 2 % of the time at 1024 columns
constexpr std::int64_t kCacheLine = 64;

constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }
/// Steps of equal length, at most `longest`, rounded up to `multiple`.
constexpr std::int64_t even_step(std::int64_t total, std::int64_t longest, std::int64_t multiple) {
  const std::int64_t parts = (total + longest - 1) / longest;
  return parts <= 1 ? total : round_up((total + parts - 1) / parts, multiple);
}

/// What is allocated and how C is cut, from the shape alone.
struct Cut {
  std::int64_t tile_rows, row_step, first_panel, panel;
  std::int64_t lda;     ///< of the A tile
  std::int64_t ldb;     ///< of the widened weight
  std::int64_t widened;  ///< elements of the widened weight
  std::int64_t acc_columns() const { return std::max(first_panel, panel); }
};

template <class T>
Cut cut(const GemmShape& g, std::size_t shards, bool dense) {
  // One cache line more than needed: rows that are a multiple of 4096 bytes apart would share few cache sets.
  const auto padded = [](std::int64_t columns) {
    constexpr std::int64_t line = kCacheLine / static_cast<std::int64_t>(sizeof(T));
    return round_up(columns, line) + line;
  };
  Cut c{};
  c.tile_rows = dense ? std::min(g.m, kDenseTileRows) : even_step(g.m, kMaxTileRows, kRowStep);
  c.row_step = dense ? c.tile_rows : std::min(g.m, kRowStep);
  c.first_panel = shards > 1 ? std::min(g.n, kFirstPanel) : 0;
  c.panel = even_step(g.n - c.first_panel, std::clamp(c.tile_rows, kMinPanel, kMaxPanel), kRowStep);
  c.lda = dense ? g.k : padded(g.k);
  c.ldb = !g.weight_transposed ? padded(g.n) : c.lda;
  c.widened = std::is_same_v<T, float> ? (g.weight_transposed ? g.n : g.k) * c.ldb : 0;
  return c;
}

/// For the calling thread alone and for its own lifetime: OpenMP keeps this number for each thread that asks.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

template <class T>
dnnl::memory::desc matrix_desc(std::int64_t rows, std::int64_t columns, std::int64_t ld, bool transposed = false) {
  return {Dims{rows, columns}, std::is_same_v<T, float> ? DataType::f32 : DataType::bf16, transposed ? Dims{1, ld} : Dims{ld, 1}};
}

dnnl::matmul::primitive_desc plan_matmul(const dnnl::engine& engine, const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                         const dnnl::memory::desc& c, const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, c), attributes, engine};
#endif
}

/// Where a matrix begins, and the distance between its rows (of a transposed weight: of the rows as stored).
template <class T>
struct View {
  const T* data;
  std::int64_t ld;
};

/// c = a*b or c += a*b of any shape: sizes and leading dimensions are given at run time.
template <class T>
class AnyShape {
 public:
  AnyShape(const dnnl::engine& engine, bool weight_transposed) : engine_(engine), transposed_(weight_transposed) {
    constexpr std::int64_t kAny = DNNL_RUNTIME_DIM_VAL;
    const auto a = matrix_desc<T>(kAny, kAny, kAny), b = matrix_desc<T>(kAny, kAny, kAny, transposed_);
    const auto c = matrix_desc<float>(kAny, kAny, kAny);
    dnnl::post_ops add;
    add.append_sum(1.0f);
    dnnl::primitive_attr accumulate;
    accumulate.set_post_ops(add);
    const auto plan = plan_matmul(engine_, a, b, c, {});
    implementation_ = plan.impl_info_str();
    overwrite_ = dnnl::matmul(plan);
    accumulate_ = dnnl::matmul(plan_matmul(engine_, a, b, c, accumulate));
  }

  void run(dnnl::stream& stream, const GemmShape& g, View<T> a, View<T> b, float* c, bool accumulate) const {
    const dnnl::memory am(matrix_desc<T>(g.m, g.k, a.ld), engine_, const_cast<T*>(a.data));
    const dnnl::memory bm(matrix_desc<T>(g.k, g.n, b.ld, transposed_), engine_, const_cast<T*>(b.data));
    const dnnl::memory cm(matrix_desc<float>(g.m, g.n, g.n), engine_, c);
    (accumulate ? accumulate_ : overwrite_).execute(stream, {{DNNL_ARG_SRC, am}, {DNNL_ARG_WEIGHTS, bm}, {DNNL_ARG_DST, cm}});
    stream.wait();
  }
  const std::string& implementation() const { return implementation_; }

 private:
  dnnl::engine engine_;
  bool transposed_;
  dnnl::matmul overwrite_, accumulate_;
  std::string implementation_;
};

/// c = a*b with a transposed weight, all three dense, for the few shapes of tiles that one GEMM has.
template <class T>
class DenseShapes {
 public:
  DenseShapes(const dnnl::engine& engine, const GemmShape& g, const Cut& cut) : engine_(engine), k_(g.k) {
    for (const std::int64_t rows : {cut.tile_rows, g.m % cut.tile_rows})
      for (const std::int64_t columns : {cut.panel, cut.panel ? (g.n - cut.first_panel) % cut.panel : 0})
        if (rows && columns) add(rows, columns);
  }
  void allocate() { scratch_ = core::Buffer(scratch_bytes_); }

  void run(dnnl::stream& stream, std::int64_t rows, std::int64_t columns, const T* a, const T* b, float* c) {
    const auto& [plan, product] = products_.at({rows, columns});
    const dnnl::memory am(plan.src_desc(), engine_, const_cast<T*>(a)), bm(plan.weights_desc(), engine_, const_cast<T*>(b));
    const dnnl::memory cm(plan.dst_desc(), engine_, c), scratch(plan.scratchpad_desc(), engine_, scratch_.as<void>());
    product.execute(stream, {{DNNL_ARG_SRC, am}, {DNNL_ARG_WEIGHTS, bm}, {DNNL_ARG_DST, cm}, {DNNL_ARG_SCRATCHPAD, scratch}});
    stream.wait();
  }
  std::string implementation() const { return products_.empty() ? "" : products_.begin()->second.first.impl_info_str(); }
  std::int64_t scratch_bytes() const { return static_cast<std::int64_t>(scratch_bytes_); }

 private:
  void add(std::int64_t rows, std::int64_t columns) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto plan = plan_matmul(engine_, matrix_desc<T>(rows, k_, k_), matrix_desc<T>(k_, columns, k_, true),
                                  matrix_desc<float>(rows, columns, columns), attributes);
    scratch_bytes_ = std::max(scratch_bytes_, plan.scratchpad_desc().get_size());
    products_.try_emplace({rows, columns}, plan, dnnl::matmul(plan));
  }

  dnnl::engine engine_;
  std::int64_t k_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<dnnl::matmul::primitive_desc, dnnl::matmul>> products_;
  std::size_t scratch_bytes_ = 0;
  core::Buffer scratch_;
};

void convert(core::Bf16* to, const core::Bf16* from, std::int64_t n) { std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof *to); }
void convert(float* to, const core::Bf16* from, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) to[j] = from[j].to_float();
}

template <class T>
class OnednnGemm final : public HostGemm {
 public:
  OnednnGemm(std::string_view name, const GemmShape& shape, std::size_t shards, int threads, bool dense)
      : name_(name), shape_(shape), cut_(cut<T>(shape, shards, dense)), shards_(shards), threads_(threads), any_shape_(engine_, shape.weight_transposed) {
    if (dense) {
      dense_ = std::make_unique<DenseShapes<T>>(engine_, shape, cut_);
      dense_->allocate();
    }
    a_ = core::Buffer(bytes(cut_.tile_rows * cut_.lda));
    widened_ = core::Buffer(bytes(cut_.widened));
    acc_ = core::Buffer(static_cast<std::size_t>(cut_.tile_rows * cut_.acc_columns()) * sizeof(float));
  }

  void load(core::ConstBf16Matrix weight) override {
    if constexpr (std::is_same_v<T, float>) {
      float* to = widened_.as<float>();
#pragma omp parallel for num_threads(threads_)
      for (std::int64_t i = 0; i < weight.rows; ++i) convert(to + i * cut_.ldb, weight.row(i), weight.columns);
      weight_ = {to, cut_.ldb};
    } else {
      weight_ = {weight.data, weight.ld};
    }
  }

  void multiply(RowSource& a, std::int64_t i0, std::int64_t n_rows, TileSink& c) override {
    const ThreadCount cores(threads_);
    for (std::int64_t i = i0; i < i0 + n_rows; i += cut_.tile_rows) {
      const std::int64_t rows = std::min(cut_.tile_rows, i0 + n_rows - i);
      for (int shard = 0; shard < static_cast<int>(shards_); ++shard) {
        if (i == i0) a.wait(shard);
        gather(a, shard, i, rows);
        accumulate_first_panel(a.segments(shard), shard, rows);
      }
      if (cut_.first_panel) store(c, i, rows, 0, cut_.first_panel);
      for (std::int64_t j = cut_.first_panel; j < shape_.n; j += cut_.panel) {
        const std::int64_t columns = std::min(cut_.panel, shape_.n - j);
        whole_product(rows, j, columns);
        store(c, i, rows, j, columns);
      }
    }
  }

  std::int64_t rows() const override { return shape_.m; }
  std::int64_t row_step() const override { return cut_.row_step; }
  std::string describe() const override {
    return fmt::format("{}: oneDNN {}.{}.{} {}, tiles of {} x {}", name_, DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH,
                       dense_ ? dense_->implementation() : any_shape_.implementation(), cut_.tile_rows, cut_.panel);
  }

 private:
  static std::size_t bytes(std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); }

  /// Rows [i0, i0 + rows) of a shard into their columns of the A tile.
  void gather(const RowSource& a, int shard, std::int64_t i0, std::int64_t rows) {
    const auto segments = a.segments(shard);
    T* to = a_.as<T>();
#pragma omp parallel for num_threads(threads_)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::size_t s = 0; s < segments.size(); ++s)
        convert(to + i * cut_.lda + segments[s].k0, a.row(shard, static_cast<int>(s), i0 + i), segments[s].columns);
  }

  /// acc[rows, first panel] (+)= A(shard) * B(shard): one product for each run of adjacent segments.
  void accumulate_first_panel(std::span<const RowSource::Segment> segments, int shard, std::int64_t rows) {
    if (!cut_.first_panel) return;
    bool accumulate = shard > 0;
    for (std::size_t s = 0; s < segments.size(); accumulate = true) {
      const std::int64_t k0 = segments[s].k0;
      std::int64_t end = k0 + segments[s++].columns;
      for (; s < segments.size() && segments[s].k0 == end; ++s) end += segments[s].columns;
      const View<T> a{a_.as<T>() + k0, cut_.lda};
      const View<T> b{weight_.data + (shape_.weight_transposed ? k0 : k0 * weight_.ld), weight_.ld};
      any_shape_.run(stream_, {rows, cut_.first_panel, end - k0, shape_.weight_transposed}, a, b, acc_.as<float>(), accumulate);
    }
  }

  /// acc[rows, columns] = A * B(:, j0 .. j0 + columns).
  void whole_product(std::int64_t rows, std::int64_t j0, std::int64_t columns) {
    const T* b = weight_.data + (shape_.weight_transposed ? j0 * weight_.ld : j0);
    if (dense_ && weight_.ld == shape_.k)
      dense_->run(stream_, rows, columns, a_.as<T>(), b, acc_.as<float>());
    else
      any_shape_.run(stream_, {rows, columns, shape_.k, shape_.weight_transposed}, {a_.as<T>(), cut_.lda}, {b, weight_.ld}, acc_.as<float>(), false);
  }

  void store(TileSink& c, std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns) {
    const float* acc = acc_.as<float>();
    if (threads_ == 1) return c.store(i0, rows, j0, columns, acc, columns);
#pragma omp parallel for num_threads(threads_)
    for (std::int64_t i = 0; i < rows; i += kRowStep)
      c.store(i0 + i, std::min(kRowStep, rows - i), j0, columns, acc + i * columns, columns);
  }

  std::string_view name_;
  GemmShape shape_;
  Cut cut_;
  std::size_t shards_;
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  AnyShape<T> any_shape_;
  std::unique_ptr<DenseShapes<T>> dense_;
  core::Buffer a_, widened_, acc_;
  View<T> weight_{};
};

template <class T>
core::Reason infeasible(const GemmShape& shape, bool dense) {
  if (dense && !shape.weight_transposed)
    return "the panels of a weight [k, n] are not dense: use the provider of that name without _dense";
  const AnyShape<T> product(dnnl::engine(dnnl::engine::kind::cpu, 0), shape.weight_transposed);
  if (product.implementation().starts_with("ref"))
    return fmt::format("oneDNN has only its slow reference loops ({}) for this type on this processor", product.implementation());
  return {};
}

/// Turns what oneDNN throws into an error that says what was asked for.
template <class F>
auto checked(std::string_view name, const GemmShape& g, F&& f) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    throw core::Error(core::ErrorKind::environment,
                      fmt::format("GEMM provider {} cannot prepare m {}, n {}, k {} on this processor: oneDNN says \"{}\"", name, g.m, g.n, g.k,
                                  error.what()));
  }
}

template <class T>
std::unique_ptr<HostGemm> prepare(std::string_view name, const GemmShape& shape, std::size_t shards, int threads, bool dense) {
  const ThreadCount cores(threads);  // oneDNN plans for the number of threads that it finds now
  return checked(name, shape, [&] { return std::make_unique<OnednnGemm<T>>(name, shape, shards, threads, dense); });
}

template <class T>
std::int64_t workspace_bytes(std::string_view name, const GemmShape& shape, std::size_t shards, bool dense) {
  const Cut c = cut<T>(shape, shards, dense);
  std::int64_t bytes = (c.tile_rows * c.lda + c.widened) * static_cast<std::int64_t>(sizeof(T)) +
                       c.tile_rows * c.acc_columns() * static_cast<std::int64_t>(sizeof(float));
  if (dense) {
    const ThreadCount cores(1);
    bytes += checked(name, shape, [&] { return DenseShapes<T>(dnnl::engine(dnnl::engine::kind::cpu, 0), shape, c).scratch_bytes(); });
  }
  return bytes;
}

using Shards = std::span<const std::int64_t>;

}  // namespace

constinit const GemmProvider onednn_bf16_provider{
    .name = "onednn_bf16",
    .doc = "BF16 operands, shapes given at run time: the weight is read where it lies",
    .infeasible = [](const GemmShape& g) { return infeasible<core::Bf16>(g, false); },
    .prepare = [](const GemmShape& g, Shards s, int threads) { return prepare<core::Bf16>("onednn_bf16", g, s.size(), threads, false); },
    .workspace_bytes = [](const GemmShape& g, Shards s) { return workspace_bytes<core::Bf16>("onednn_bf16", g, s.size(), false); }};

constinit const GemmProvider onednn_bf16_dense_provider{
    .name = "onednn_bf16_dense",
    .doc = "BF16 operands, one plan a tile shape; for few rows and a weight [n, k] without padding (with padding: as onednn_bf16)",
    .infeasible = [](const GemmShape& g) { return infeasible<core::Bf16>(g, true); },
    .prepare = [](const GemmShape& g, Shards s, int threads) { return prepare<core::Bf16>("onednn_bf16_dense", g, s.size(), threads, true); },
    .workspace_bytes = [](const GemmShape& g, Shards s) { return workspace_bytes<core::Bf16>("onednn_bf16_dense", g, s.size(), true); }};

constinit const GemmProvider onednn_f32_provider{
    .name = "onednn_f32",
    .doc = "operands widened to FP32, shapes given at run time; for processors whose FP32 rate is above their BF16 rate",
    .infeasible = [](const GemmShape& g) { return infeasible<float>(g, false); },
    .prepare = [](const GemmShape& g, Shards s, int threads) { return prepare<float>("onednn_f32", g, s.size(), threads, false); },
    .workspace_bytes = [](const GemmShape& g, Shards s) { return workspace_bytes<float>("onednn_f32", g, s.size(), false); }};

constinit const GemmProvider onednn_f32_dense_provider{
    .name = "onednn_f32_dense",
    .doc = "operands widened to FP32, one plan a tile shape; for few rows and a weight [n, k]",
    .infeasible = [](const GemmShape& g) { return infeasible<float>(g, true); },
    .prepare = [](const GemmShape& g, Shards s, int threads) { return prepare<float>("onednn_f32_dense", g, s.size(), threads, true); },
    .workspace_bytes = [](const GemmShape& g, Shards s) { return workspace_bytes<float>("onednn_f32_dense", g, s.size(), true); }};

}  // namespace megaup::ops
