#include <megaup/ops/row_chunks.hpp>

#include <catch2/catch_test_macros.hpp>

namespace megaup::ops {
namespace {

TEST_CASE("chunks cover all rows once, have equal room, and are multiples of the row step") {
  for (const std::int64_t M : {1, 63, 1024, 1025, 2250, 4096, 5000, 65536, 65537})
    for (const std::int64_t step : {1, 64, 256}) {
      INFO("M " << M << " step " << step);
      const RowChunks chunks(M, step);
      CHECK(chunks.count() <= RowChunks::kMostChunks);
      std::int64_t next = 0;
      for (int i = 0; i < chunks.count(); ++i) {
        CHECK(chunks[i].first == next);
        CHECK(chunks[i].count > 0);
        CHECK((chunks[i].count == chunks.rows() || i == chunks.count() - 1));
        CHECK(chunks[i].slab_rows == chunks.rows());
        if (i > 0) CHECK(chunks[i].first % step == 0);
        next += chunks[i].count;
      }
      CHECK(next == M);
    }
  CHECK(RowChunks(2048, 64).count() == 2);
  CHECK(RowChunks(8192, 64).rows() == 2048);
}

}  // namespace
}  // namespace megaup::ops
