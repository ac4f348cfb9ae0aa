#pragma once

#include <cstdint>

#include <megaup/core/dtype.hpp>

namespace megaup::core {

/// A borrowed row-major matrix: element (i, j) is data[i*ld + j], ld >= columns. Kernels honour ld: a column window of a wider buffer is
/// a valid matrix, and elements between `columns` and `ld` are never read nor written.
template <class T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0, ld = 0;

  T* row(std::int64_t i) const { return data + i * ld; }
  Matrix window(std::int64_t i0, std::int64_t n_rows, std::int64_t j0, std::int64_t n_columns) const {
    return {data + i0 * ld + j0, n_rows, n_columns, ld};
  }
  operator Matrix<const T>() const { return {data, rows, columns, ld}; }
};

using Bf16Matrix = Matrix<Bf16>;
using ConstBf16Matrix = Matrix<const Bf16>;

}  // namespace megaup::core
