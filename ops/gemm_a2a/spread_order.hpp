#pragma once

#include <array>
#include <cstdint>

#include <megaup/core/host_device.hpp>
#include <megaup/ops/gemm_a2a/push_map.hpp>

namespace megaup::ops {

/// An order of tiles that spreads what a push sends over the time of its GEMM (Raster::spread). A wave of tiles ends at
/// one time on all multiprocessors. In an order along rows or columns some waves send everything and wait for the link,
/// and others nothing; and what the last one sends is on its way when nothing is left to compute. Here
///   - of the tiles before the last wave every stretch has the same part that goes to peers,
///   - the last wave is made of tiles that stay on this rank, as far as there are such,
///   - among those of a kind the order is along N, in bands of `together` rows, as the cache wants it; the columns of the
///     next rank's heads first in each band, then those of the one after it, so that ranks store into different peers.
/// Tiles are clusters of tiles: rows, columns and places count clusters.
struct SpreadOrder {
  static constexpr int kMaxColumns = 512;  // kMaxHeads of 128 features in the narrowest tiles

  std::int32_t rows = 0, columns = 0;  ///< of the grid; 0: no order
  std::int32_t away = 0;               ///< the first so many of `column` have something for a peer
  std::int32_t together = 1;
  std::int32_t last = 0;  ///< tiles at the end of the order that stay here
  /// Of the tiles before these, the part that goes to peers, in units of 2^-32: a kernel that divides 64-bit numbers has
  /// no registers left for it.
  std::uint64_t pace = 0;
  /// Columns of the grid, the next rank's first and this rank's last; those from kMaxColumns on are in their places.
  std::array<std::uint16_t, kMaxColumns> column{};

  struct Place {
    std::int32_t row, column;
  };

  /// The i-th tile of the order, 0 <= i < rows*columns. Every tile has its turn once.
  MEGAUP_HD constexpr Place at(std::int32_t i) const {
    const bool is_last = i >= rows * columns - last;
    const std::int32_t before = is_last ? rows * away : away_before(i);
    if (!is_last && away_before(i + 1) > before) return in_bands(before, 0, away);
    return in_bands(i - before, away, columns - away);
  }

 private:
  /// Tiles for peers among the first i, of those before the last ones.
  MEGAUP_HD constexpr std::int32_t away_before(std::int32_t i) const {
    return static_cast<std::int32_t>((static_cast<std::uint64_t>(i) * pace) >> 32);
  }
  /// The j-th tile of the columns from .. from + count - 1 of the table, along N in bands.
  MEGAUP_HD constexpr Place in_bands(std::int32_t j, std::int32_t from, std::int32_t count) const {
    const std::int32_t first = j / (count * together) * together;
    const std::int32_t height = together < rows - first ? together : rows - first;
    const std::int32_t rest = j - first * count;
    const std::int32_t i = from + rest / height;
    return {first + rest % height, i < kMaxColumns ? column[static_cast<std::size_t>(i)] : i};
  }
};

/// The grid that a kernel computes: clusters of tiles, those beyond the matrix that round it up too, and how many of them
/// are computed at a time.
struct ClusterGrid {
  std::int32_t rows, columns;
  std::int64_t cluster_columns;  ///< columns of the matrix in a cluster
  std::int32_t resident;
};

/// The order for the heads of `map`. A cluster with heads of several ranks has its turn with the nearest of them, and
/// stays here only if all of it does. Cost: O(columns).
SpreadOrder spread_order(const PushMap& map, const ClusterGrid& grid, std::int32_t together);

}  // namespace megaup::ops
