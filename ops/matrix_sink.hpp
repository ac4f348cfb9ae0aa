#pragma once

#include <megaup/ops/host_gemm.hpp>

namespace megaup::ops {

/// C, or the rows of it from `first_row` on, in one place, rounded to BF16.
class MatrixSink final : public TileSink {
 public:
  explicit MatrixSink(core::Bf16Matrix c, std::int64_t first_row = 0) : c_(c), first_row_(first_row) {}

  void store(std::int64_t i0, std::int64_t rows, std::int64_t j0, std::int64_t columns, const float* acc,
             std::int64_t ld) override;

 private:
  core::Bf16Matrix c_;
  std::int64_t first_row_;
};

}  // namespace megaup::ops
