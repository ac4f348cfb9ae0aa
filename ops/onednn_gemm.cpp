#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <omp.h>
#include <dnnl.hpp>

#include <megaup/core/buffer.hpp>
#include <megaup/core/error.hpp>
#include <megaup/ops/gemm_cut.hpp>
#include <megaup/ops/host_gemm.hpp>
#include <megaup/ops/row_blocks.hpp>

/// The host GEMM over oneDNN's matmul.
///
///   A tile [rows, k]   gathered from the RowSource once, in the type T of the multiplication
///   B [k, n]           BF16: used where it lies; FP32: widened by load()
///   acc [rows, panel]  FP32; given to the sink when complete over k, then overwritten by the next panel
///
/// With several shards the first panel, a narrow one, is accumulated shard by shard, so that there is work to do while
/// later shards are still on their way. Every other panel is one product over all of k. docs/decisions/0004 has the
/// measurements behind this.
namespace megaup::ops {

extern constinit const GemmProvider onednn_bf16_provider, onednn_bf16_dense_provider, onednn_f32_provider,
    onednn_f32_dense_provider;

namespace {

using Dims = dnnl::memory::dims;
using DataType = dnnl::memory::data_type;

// What oneDNN 2.6 takes by itself on one core, measured: gemm:jit packs into 4 to 6.5 MB, brgemm's programs need 2 MB.
constexpr std::int64_t kPackedBytes = 6'000'000, kProgramBytes = 2'000'000;

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
  return {Dims{rows, columns}, std::is_same_v<T, float> ? DataType::f32 : DataType::bf16,
          transposed ? Dims{1, ld} : Dims{ld, 1}};
}

dnnl::matmul::primitive_desc plan_matmul(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                         const dnnl::memory::desc& b, const dnnl::memory::desc& c,
                                         const dnnl::primitive_attr& attributes) {
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

/// The matrices of a product, described once and pointed to where they lie for each call. Objects of the library made
/// anew for each product, and its map of arguments, would be sixteen allocations.
struct Matrices {
  dnnl::memory a, b, c;

  Matrices(const dnnl::engine& engine, const dnnl::memory::desc& a_desc, const dnnl::memory::desc& b_desc,
           const dnnl::memory::desc& c_desc)
      : a(a_desc, engine, DNNL_MEMORY_NONE), b(b_desc, engine, DNNL_MEMORY_NONE), c(c_desc, engine, DNNL_MEMORY_NONE) {}

  template <class T>
  void multiply(const dnnl::matmul& product, dnnl::stream& stream, const T* a_data, const T* b_data, float* c_data,
                const dnnl::memory& scratch = {}) const {
    a.set_data_handle(const_cast<T*>(a_data));
    b.set_data_handle(const_cast<T*>(b_data));
    c.set_data_handle(c_data);
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, a.get()},
                                         {DNNL_ARG_WEIGHTS, b.get()},
                                         {DNNL_ARG_DST, c.get()},
                                         {DNNL_ARG_SCRATCHPAD, scratch.get(true)}};
    dnnl::error::wrap_c_api(dnnl_primitive_execute(product.get(), stream.get(), scratch ? 4 : 3, arguments),
                            "could not multiply");
    stream.wait();
  }
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

  /// Allocates for a shape that it has not seen: those of one GEMM are few.
  void run(dnnl::stream& stream, const GemmShape& g, View<T> a, View<T> b, float* c, bool accumulate) {
    const std::array key{g.m, g.n, g.k, a.ld, b.ld};
    auto found = matrices_.find(key);
    if (found == matrices_.end())
      found = matrices_
                  .try_emplace(key, engine_, matrix_desc<T>(g.m, g.k, a.ld),
                               matrix_desc<T>(g.k, g.n, b.ld, transposed_), matrix_desc<float>(g.m, g.n, g.n))
                  .first;
    found->second.multiply(accumulate ? accumulate_ : overwrite_, stream, a.data, b.data, c);
  }
  const std::string& implementation() const { return implementation_; }

 private:
  dnnl::engine engine_;
  bool transposed_;
  dnnl::matmul overwrite_, accumulate_;
  std::map<std::array<std::int64_t, 5>, Matrices> matrices_;
  std::string implementation_;
};

/// c = a*b with a transposed weight, all three dense, for the few shapes of tiles that one GEMM has.
template <class T>
class DenseShapes {
 public:
  DenseShapes(const dnnl::engine& engine, const GemmShape& g, const GemmCut& cut) : engine_(engine), k_(g.k) {
    for (const std::int64_t rows : {cut.tile_rows, 2 * cut.row_step, cut.row_step, g.m % cut.row_step})
      for (const std::int64_t columns : {cut.panel, cut.panel ? (g.n - cut.first_panel) % cut.panel : 0})
        if (rows > 0 && rows <= cut.tile_rows && columns > 0) add(rows, columns);
  }
  void allocate() {
    scratch_ = core::Buffer(scratch_bytes_);
    for (auto& [shape, product] : products_) product.scratch.set_data_handle(scratch_.as<void>());
  }

  void run(dnnl::stream& stream, std::int64_t rows, std::int64_t columns, const T* a, const T* b, float* c) {
    const Product& p = products_.at({rows, columns});
    p.matrices.multiply(p.matmul, stream, a, b, c, p.scratch);
  }
  /// Rows of the next tile of a chunk of which `rows` are left.
  std::int64_t tile_rows(std::int64_t rows) const {
    const auto larger = products_.upper_bound({rows, std::numeric_limits<std::int64_t>::max()});
    return larger == products_.begin() ? rows : std::prev(larger)->first.first;
  }
  std::string implementation() const { return products_.empty() ? "" : products_.begin()->second.implementation; }
  std::int64_t scratch_bytes() const { return static_cast<std::int64_t>(scratch_bytes_); }

 private:
  void add(std::int64_t rows, std::int64_t columns) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto plan = plan_matmul(engine_, matrix_desc<T>(rows, k_, k_), matrix_desc<T>(k_, columns, k_, true),
                                  matrix_desc<float>(rows, columns, columns), attributes);
    scratch_bytes_ = std::max(scratch_bytes_, plan.scratchpad_desc().get_size());
    products_.try_emplace({rows, columns}, Product{dnnl::matmul(plan),
                                                   {engine_, plan.src_desc(), plan.weights_desc(), plan.dst_desc()},
                                                   {plan.scratchpad_desc(), engine_, DNNL_MEMORY_NONE},
                                                   plan.impl_info_str()});
  }

  struct Product {
    dnnl::matmul matmul;
    Matrices matrices;
    dnnl::memory scratch;
    std::string implementation;
  };

  dnnl::engine engine_;
  std::int64_t k_;
  std::map<std::pair<std::int64_t, std::int64_t>, Product> products_;
  std::size_t scratch_bytes_ = 0;
  core::Buffer scratch_;
};

void convert(core::Bf16* to, const core::Bf16* from, std::int64_t n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof *to);
}
void convert(float* to, const core::Bf16* from, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) to[j] = from[j].to_float();
}

template <class T>
class OnednnGemm final : public HostGemm {
 public:
  OnednnGemm(std::string_view name, const GemmShape& shape, std::size_t shards, int threads, bool dense)
      : name_(name),
        shape_(shape),
        cut_(gemm_cut(shape, shards, dense, sizeof(T))),
        shards_(shards),
        threads_(threads),
        any_shape_(engine_, shape.weight_transposed) {
    if (dense) {
      dense_ = std::make_unique<DenseShapes<T>>(engine_, shape, cut_);
      dense_->allocate();
    }
    a_ = core::Buffer(bytes(cut_.tile_rows * cut_.lda));
    if constexpr (std::is_same_v<T, float>) widened_ = core::Buffer(bytes(cut_.weight_elements));
    acc_ = core::Buffer(static_cast<std::size_t>(cut_.tile_rows * cut_.acc_columns()) * sizeof(float));
  }

  void load(core::ConstBf16Matrix weight) override {
    if constexpr (std::is_same_v<T, float>) {
      float* to = widened_.as<float>();
      for_row_blocks(weight.rows, 1, threads_,
                     [&](std::int64_t i, std::int64_t) { convert(to + i * cut_.ldb, weight.row(i), weight.columns); });
      weight_ = {to, cut_.ldb};
    } else {
      weight_ = {weight.data, weight.ld};
    }
  }

  void multiply(RowSource& a, std::int64_t i0, std::int64_t n_rows, TileSink& c) override {
    const ThreadCount cores(threads_);
    for (std::int64_t i = i0, rows = 0; i < i0 + n_rows; i += rows) {
      rows = std::min(cut_.tile_rows, i0 + n_rows - i);
      if (dense_) rows = dense_->tile_rows(rows);
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
    return fmt::format("{}: oneDNN {}.{}.{} {}, tiles of {} x {}", name_, DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
                       DNNL_VERSION_PATCH, dense_ ? dense_->implementation() : any_shape_.implementation(),
                       cut_.tile_rows, cut_.panel);
  }

 private:
  static std::size_t bytes(std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); }

  /// Rows [i0, i0 + rows) of a shard into their columns of the A tile.
  void gather(const RowSource& a, int shard, std::int64_t i0, std::int64_t rows) {
    const auto segments = a.segments(shard);
    T* to = a_.as<T>();
    for_row_blocks(rows, 1, threads_, [&](std::int64_t i, std::int64_t) {
      for (std::size_t s = 0; s < segments.size(); ++s)
        convert(to + i * cut_.lda + segments[s].k0, a.row(shard, static_cast<int>(s), i0 + i), segments[s].columns);
    });
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
      any_shape_.run(stream_, {rows, cut_.first_panel, end - k0, shape_.weight_transposed}, a, b, acc_.as<float>(),
                     accumulate);
    }
  }

  /// acc[rows, columns] = A * B(:, j0 .. j0 + columns).
  void whole_product(std::int64_t rows, std::int64_t j0, std::int64_t columns) {
    const T* b = weight_.data + (shape_.weight_transposed ? j0 * weight_.ld : j0);
    if (dense_ && weight_.ld == shape_.k)
      dense_->run(stream_, rows, columns, a_.as<T>(), b, acc_.as<float>());
    else
      any_shape_.run(stream_, {rows, columns, shape_.k, shape_.weight_transposed}, {a_.as<T>(), cut_.lda},
                     {b, weight_.ld}, acc_.as<float>(), false);
  }

  /// A few rows at a time: a sink that goes through its destinations one by one then finds them in the nearest cache,
  /// which halves its time (128 columns for each destination).
  void store(TileSink& c, std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns) {
    constexpr std::int64_t kRows = 4;
    const float* acc = acc_.as<float>();
    for_row_blocks(rows, kRows, threads_, [&](std::int64_t i, std::int64_t n) {
      c.store(i0 + i, n, j0, columns, acc + i * columns, columns);
    });
  }

  std::string_view name_;
  GemmShape shape_;
  GemmCut cut_;
  std::size_t shards_;
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  AnyShape<T> any_shape_;
  std::unique_ptr<DenseShapes<T>> dense_;
  core::Buffer a_, widened_, acc_;
  View<T> weight_{};
};

/// Why oneDNN cannot multiply this type well here. Asked for many cells of a plan, so found out once.
template <class T>
const core::Reason& unsupported() {
  static const core::Reason reason = []() -> core::Reason {
    try {
      const AnyShape<T> product(dnnl::engine(dnnl::engine::kind::cpu, 0), true);
      if (!product.implementation().starts_with("ref")) return {};
      return fmt::format("oneDNN has only slow reference loops ({}) for its type on this processor",
                         product.implementation());
    } catch (const dnnl::error& error) {
      return fmt::format("oneDNN does not multiply its type on this processor: {}", error.what());
    }
  }();
  return reason;
}

template <class T>
core::Reason infeasible(const GemmShape& shape, bool dense) {
  if (dense && !shape.weight_transposed)
    return "the panels of a weight [k, n] are not dense: use the provider of that name without _dense";
  return unsupported<T>();
}

/// Turns what oneDNN throws into an error that says what was asked for.
template <class F>
auto checked(std::string_view name, const GemmShape& g, F&& f) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    throw core::Error(
        core::ErrorKind::environment,
        fmt::format("GEMM provider {} cannot prepare m {}, n {}, k {} on this processor: oneDNN says \"{}\"", name, g.m,
                    g.n, g.k, error.what()));
  }
}

template <class T, bool dense>
constexpr std::string_view kName = std::is_same_v<T, float> ? (dense ? "onednn_f32_dense" : "onednn_f32")
                                                            : (dense ? "onednn_bf16_dense" : "onednn_bf16");

template <class T, bool dense>
std::unique_ptr<HostGemm> prepare(const GemmShape& g, std::span<const std::int64_t> shards, int threads) {
  const ThreadCount cores(threads);  // oneDNN plans for the number of threads that it finds now
  constexpr std::string_view name = kName<T, dense>;
  return checked(name, g, [&] { return std::make_unique<OnednnGemm<T>>(name, g, shards.size(), threads, dense); });
}

template <class T, bool dense>
std::int64_t workspace_bytes(const GemmShape& g, std::span<const std::int64_t> shards) {
  if (infeasible<T>(g, dense)) return 0;
  const GemmCut cut = gemm_cut(g, shards.size(), dense, sizeof(T));
  const std::int64_t bytes = (cut.tile_rows * cut.lda + (std::is_same_v<T, float> ? cut.weight_elements : 0)) *
                                 static_cast<std::int64_t>(sizeof(T)) +
                             cut.tile_rows * cut.acc_columns() * static_cast<std::int64_t>(sizeof(float));
  if (!dense) return bytes + kPackedBytes;
  const ThreadCount cores(1);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return bytes + kProgramBytes +
         checked(kName<T, dense>, g, [&] { return DenseShapes<T>(engine, g, cut).scratch_bytes(); });
}

template <class T, bool dense>
constexpr GemmProvider row(std::string_view doc) {
  return {.name = kName<T, dense>,
          .doc = doc,
          .infeasible = [](const GemmShape& g) { return infeasible<T>(g, dense); },
          .prepare = prepare<T, dense>,
          .workspace_bytes = workspace_bytes<T, dense>};
}

}  // namespace

constinit const GemmProvider onednn_bf16_provider =
    row<core::Bf16, false>("BF16 operands, shapes given at run time; the weight is read where it lies");
constinit const GemmProvider onednn_bf16_dense_provider = row<core::Bf16, true>(
    "BF16 operands, one plan a tile shape: for few rows and a weight [n, k]; if that is padded, as onednn_bf16");
constinit const GemmProvider onednn_f32_provider = row<float, false>(
    "operands widened to FP32, shapes given at run time: for processors that do FP32 faster than BF16");
constinit const GemmProvider onednn_f32_dense_provider =
    row<float, true>("operands widened to FP32, one plan a tile shape: for few rows and a weight [n, k]");

}  // namespace megaup::ops
