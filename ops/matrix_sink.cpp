#include <megaup/ops/matrix_sink.hpp>

#include <megaup/ops/round_store.hpp>

namespace megaup::ops {

void MatrixSink::store(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns, const float* acc,
                       std::int64_t ld) {
  for (std::int64_t i = 0; i < rows; ++i) round_store(c_.row(i0 - first_row_ + i) + j0, acc + i * ld, columns);
}

}  // namespace megaup::ops
