#include <megaup/ops/reference.hpp>

#include <algorithm>
#include <cmath>

#include <megaup/ops/row_threads.hpp>

namespace megaup::ops::reference {
namespace {

/// Global position of local token u of rank r: contiguous r*s + u; dual_chunk: chunk r, then chunk 2P-1-r, each of s/2
/// tokens.
std::int64_t position(const core::Problem& p, std::int64_t r, std::int64_t u) {
  if (p.order == core::SequenceOrder::contiguous) return r * p.s + u;
  const std::int64_t half = p.s / 2;
  const std::int64_t chunk = u < half ? r : 2 * p.P - 1 - r;
  return chunk * half + u % half;
}

/// Q head h lives on rank floor(h / (Hq/P)).
HeadColumn query_home(const core::Problem& p, std::int64_t h, std::int64_t d) {
  const std::int64_t local = p.Hq / p.P;
  return {0, h / local, 1, (h % local) * p.D + d};
}

/// KV head k lives on rank floor(k / (Hk/P)); with fewer heads than ranks on the P/Hk ranks from k*P/Hk.
HeadColumn kv_home(const core::Problem& p, int tensor, std::int64_t k, std::int64_t d) {
  if (p.Hk < p.P) return {tensor, k * (p.P / p.Hk), p.P / p.Hk, d};
  const std::int64_t local = p.Hk / p.P;
  return {tensor, k / local, 1, (k % local) * p.D + d};
}

/// Operands of a product C[i, c] = sum over l of A[i, l] * B[l, chosen[c]] in FP64.
struct Factors {
  std::span<const double> a;  ///< [l][i], so that the innermost loop runs over neighbours
  std::int64_t rows, k;
  const Inputs& inputs;
  bool weight_transposed;  ///< a row of the weight is a column of B, else a row of B
  std::int64_t weight_columns;
  std::span<const std::int64_t> chosen;
};

/// Columns [first, last) of C, which is [rows][chosen] of zeros.
void product_columns(const Factors& f, std::int64_t first, std::int64_t last, double* out) {
  const auto C = static_cast<std::int64_t>(f.chosen.size());
  const std::int64_t rows = f.rows;
  const double* a = f.a.data();
  std::vector<double> w(static_cast<std::size_t>(f.weight_columns));
  if (f.weight_transposed) {
    std::vector<double> sums(static_cast<std::size_t>(rows));
    for (std::int64_t c = first; c < last; ++c) {
      f.inputs.weight(f.chosen[static_cast<std::size_t>(c)], w);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::int64_t l = 0; l < f.k; ++l)
        for (std::int64_t i = 0; i < rows; ++i)
          sums[static_cast<std::size_t>(i)] += a[l * rows + i] * w[static_cast<std::size_t>(l)];
      for (std::int64_t i = 0; i < rows; ++i) out[i * C + c] = sums[static_cast<std::size_t>(i)];
    }
    return;
  }
  std::vector<double> picked(static_cast<std::size_t>(last - first));
  for (std::int64_t l = 0; l < f.k; ++l) {
    f.inputs.weight(l, w);
    for (std::size_t c = 0; c < picked.size(); ++c)
      picked[c] = w[static_cast<std::size_t>(f.chosen[static_cast<std::size_t>(first) + c])];
    for (std::int64_t i = 0; i < rows; ++i) {
      const double factor = a[l * rows + i];
      double* row = out + i * C + first;
      for (std::size_t c = 0; c < picked.size(); ++c) row[c] += factor * picked[c];
    }
  }
}

Expected product(const Factors& factors, int threads) {
  const auto C = static_cast<std::int64_t>(factors.chosen.size());
  Expected result{C, std::vector<double>(static_cast<std::size_t>(factors.rows * C))};
  on_row_threads(C, threads, [&](std::int64_t first, std::int64_t last) {
    product_columns(factors, first, last, result.values.data());
  });
  return result;
}

std::int64_t weight_columns(const Operation& op, const core::Problem& p) {
  return op.columns == core::Columns::qkv ? p.H : p.Hq * p.D;
}

/// Row m of A on rank r, in the order of the wide matrix.
std::vector<double> gathered_row(const Operation& op, const core::Problem& p, const Inputs& inputs,
                                 std::span<const HeadColumn> homes, std::int64_t head_row) {
  std::vector<std::vector<double>> parts;  // [rank*kTensors + tensor]
  for (std::int64_t q = 0; q < p.P; ++q)
    for (int tensor = 0; tensor < kTensors; ++tensor) {
      parts.emplace_back(static_cast<std::size_t>(tensor_columns(op, p, tensor)));
      if (!parts.back().empty()) inputs.heads(q, tensor, head_row, parts.back());
    }
  std::vector<double> row;
  for (const HeadColumn& home : homes) {
    const auto part = [&](std::int64_t rank) {
      return parts[static_cast<std::size_t>(rank * kTensors + home.tensor)][static_cast<std::size_t>(home.column)];
    };
    if (home.copies == 1) {
      row.push_back(part(home.first_rank));
      continue;
    }
    float sum = static_cast<float>(part(home.first_rank));
    for (std::int64_t c = 1; c < home.copies; ++c) sum += static_cast<float>(part(home.first_rank + c));
    row.push_back(rounded_to_bf16(static_cast<double>(sum)));
  }
  return row;
}

}  // namespace

std::int64_t tensor_columns(const Operation& op, const core::Problem& p, int tensor) {
  if (tensor == 0) return p.Hq / p.P * p.D;
  if (op.columns == core::Columns::query) return 0;
  return (p.Hk < p.P ? 1 : p.Hk / p.P) * p.D;
}

std::vector<std::vector<std::int64_t>> head_rows(const core::Problem& p) {
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(p.P),
                                              std::vector<std::int64_t>(static_cast<std::size_t>(p.B * p.s)));
  const bool sequence_first = p.format == core::ActivationFormat::sbhd;
  for (std::int64_t r = 0; r < p.P; ++r)
    for (std::int64_t b = 0; b < p.B; ++b)
      for (std::int64_t u = 0; u < p.s; ++u) {
        const std::int64_t g = position(p, r, u);
        const std::int64_t m = sequence_first ? u * p.B + b : b * p.s + u;
        rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(m)] =
            sequence_first ? g * p.B + b : b * (p.P * p.s) + g;
      }
  return rows;
}

std::vector<LocalToken> tokens(const core::Problem& p) {
  std::vector<LocalToken> result(static_cast<std::size_t>(p.B * p.P * p.s));
  const auto rows = head_rows(p);
  for (std::int64_t r = 0; r < p.P; ++r)
    for (std::int64_t m = 0; m < p.B * p.s; ++m)
      result[static_cast<std::size_t>(rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(m)])] = {r, m};
  return result;
}

std::vector<HeadColumn> head_columns(const Operation& op, const core::Problem& p) {
  std::vector<HeadColumn> homes;
  const auto head = [&](int tensor, std::int64_t index) {
    for (std::int64_t d = 0; d < p.D; ++d)
      homes.push_back(tensor == 0 ? query_home(p, index, d) : kv_home(p, tensor, index, d));
  };
  if (op.columns == core::Columns::query) {
    for (std::int64_t h = 0; h < p.Hq; ++h) head(0, h);
  } else if (p.qkv_weight == core::QkvWeight::concatenated) {
    for (std::int64_t h = 0; h < p.Hq; ++h) head(0, h);
    for (std::int64_t k = 0; k < p.Hk; ++k) head(1, k);
    for (std::int64_t k = 0; k < p.Hk; ++k) head(2, k);
  } else {
    for (std::int64_t a = 0; a < p.Hk; ++a) {  // group: its query heads, its key, its value
      for (std::int64_t j = 0; j < p.Hq / p.Hk; ++j) head(0, a * (p.Hq / p.Hk) + j);
      head(1, a);
      head(2, a);
    }
  }
  return homes;
}

Expected heads(const Operation& op, const core::Problem& p, const Inputs& inputs, std::int64_t rank,
               std::span<const std::int64_t> rows, int threads) {
  std::int64_t offsets[kTensors] = {}, columns = 0;
  for (int tensor = 0; tensor < kTensors; ++tensor) {
    offsets[tensor] = columns;
    columns += tensor_columns(op, p, tensor);
  }
  std::vector<std::int64_t> wide(static_cast<std::size_t>(columns));
  const auto homes = head_columns(op, p);
  for (std::size_t n = 0; n < homes.size(); ++n)
    if (rank >= homes[n].first_rank && rank < homes[n].first_rank + homes[n].copies)
      wide[static_cast<std::size_t>(offsets[homes[n].tensor] + homes[n].column)] = static_cast<std::int64_t>(n);
  const auto token = tokens(p);
  const auto R = static_cast<std::int64_t>(rows.size());
  std::vector<double> x(static_cast<std::size_t>(R * p.H)), row(static_cast<std::size_t>(p.H));
  for (std::int64_t i = 0; i < R; ++i) {
    const LocalToken source = token[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
    inputs.hidden(source.rank, source.row, row);
    for (std::int64_t h = 0; h < p.H; ++h) x[static_cast<std::size_t>(h * R + i)] = row[static_cast<std::size_t>(h)];
  }
  return product({x, R, p.H, inputs, op.weight_transposed, weight_columns(op, p), wide}, threads);
}

Expected hidden(const Operation& op, const core::Problem& p, const Inputs& inputs, std::int64_t rank,
                std::span<const std::int64_t> rows, int threads) {
  const auto homes = head_columns(op, p);
  const auto head_row = head_rows(p);
  const auto R = static_cast<std::int64_t>(rows.size());
  const auto W = static_cast<std::int64_t>(homes.size());
  std::vector<double> a(static_cast<std::size_t>(R * W));
  for (std::int64_t i = 0; i < R; ++i) {
    const std::int64_t m = rows[static_cast<std::size_t>(i)];
    const auto row =
        gathered_row(op, p, inputs, homes, head_row[static_cast<std::size_t>(rank)][static_cast<std::size_t>(m)]);
    for (std::int64_t n = 0; n < W; ++n) a[static_cast<std::size_t>(n * R + i)] = row[static_cast<std::size_t>(n)];
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(p.H));
  for (std::int64_t h = 0; h < p.H; ++h) all[static_cast<std::size_t>(h)] = h;
  return product({a, R, W, inputs, op.weight_transposed, weight_columns(op, p), all}, threads);
}

double rounded_to_bf16(double value) {
  if (value == 0) return value;
  int exponent = 0;
  const double fraction =
      std::frexp(value, &exponent);  // |fraction| in [0.5, 1): 8 significant bits are 2^8 steps of it
  return std::ldexp(std::nearbyint(fraction * 256), exponent - 8);
}

}  // namespace megaup::ops::reference
