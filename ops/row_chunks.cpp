#include <megaup/ops/row_chunks.hpp>

#include <algorithm>

#include <megaup/ops/arm_parts.hpp>

namespace megaup::ops {

RowChunks::RowChunks(std::int64_t M, std::int64_t row_step) : M_(M) {
  const std::int64_t wanted = core::chunk_rows(M);
  rows_ = std::min(M, (wanted + row_step - 1) / row_step * row_step);
}

RowRange RowChunks::operator[](int i) const {
  const std::int64_t first = i * rows_;
  return {first, std::min(rows_, M_ - first), rows_};
}

std::int64_t chunked_bytes(const Operation& op, const core::Problem& problem, std::string_view gemm_provider) {
  const std::int64_t rows = RowChunks(problem.M(), 1).rows();
  return gemm_bytes(op, problem, gemm_provider) + WideBuffer::bytes(op, problem, rows) +
         exchange_memory(problem, core::HeadLayout{problem, op.columns}.slab_width(), rows, kChunkSlots);
}

}  // namespace megaup::ops
