#pragma once

#include <array>

#include <megaup/ops/host_gemm.hpp>

namespace megaup::ops {

/// A, or the rows of it from `first_row` on, in one place, complete before the multiplication starts: one shard,
/// nothing to wait for.
class MatrixSource final : public RowSource {
 public:
  explicit MatrixSource(core::ConstBf16Matrix a, std::int64_t first_row = 0)
      : a_(a), first_row_(first_row), segment_{{{0, a.columns}}} {}

  int shards() const override { return 1; }
  std::span<const Segment> segments(int) const override { return segment_; }
  void wait(int) override {}
  const core::Bf16* row(int, int, std::int64_t i) const override { return a_.row(i - first_row_); }

 private:
  core::ConstBf16Matrix a_;
  std::int64_t first_row_;
  std::array<Segment, 1> segment_;
};

}  // namespace megaup::ops
