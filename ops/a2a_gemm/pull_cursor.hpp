#pragma once

#include <megaup/ops/a2a_gemm/pull_map.hpp>

namespace megaup::ops {

/// Goes through the K tiles of a tile of C in the order of PullMap's shards, one at a time: for kernels that load a tile's
/// A in several calls. Where K tile i of A and of the weight lie, for each i from 0 to K/64 - 1:
///
///   tensor()   own Q, K, V: 0, 1, 2; staged Q, K, V: 3, 4, 5; sums: 6
///   slab()     [rows, columns] of that tensor: staged: the peer; sums: which sum; own: 0
///   column()   K tile in that slab
///   weight()   K tile in the weight
///
/// Cost: O(1) a step, no division. Between tiles of C it has ended.
class PullCursor {
 public:
  static constexpr int kStaged = kPullKinds, kSums = 2 * kPullKinds;

  constexpr void begin(const PullMap& map) {
    shard_ = 0;
    peer_ = map.first;
    open_shard(map);
  }
  /// Precondition: not ended.
  constexpr void next(const PullMap& map) {
    opens_shard_ = false;
    ++column_;
    ++weight_;
    if (--left_ > 0) return;
    if (++segment_ < end_) {
      open_segment(map);
      return;
    }
    peer_ = peer_ + 1 == map.ranks ? 0 : peer_ + 1;
    if (++shard_ < map.shards()) open_shard(map);
  }

  constexpr bool ended(const PullMap& map) const { return shard_ >= map.shards(); }
  /// At the first K tile of a shard.
  constexpr bool opens_shard() const { return opens_shard_; }
  /// Which shard it is, from 0 on.
  constexpr int shard() const { return shard_; }
  /// It is read in place: there is nothing to wait for.
  constexpr bool own() const { return tensor_ < kStaged; }

  constexpr int tensor() const { return tensor_; }
  constexpr int slab() const { return slab_; }
  constexpr int column() const { return column_; }
  constexpr int weight() const { return weight_; }

 private:
  constexpr void open_shard(const PullMap& map) {
    opens_shard_ = true;
    const bool sums = shard_ == map.ranks;
    segment_ = sums ? map.shard_segments : 0;
    end_ = sums ? segment_ + map.sum_segments : map.shard_segments;
    open_segment(map);
  }

  constexpr void open_segment(const PullMap& map) {
    const PullMap::Segment segment = map.segments[static_cast<std::size_t>(segment_)];
    column_ = segment.from;
    weight_ = segment.weight;
    left_ = segment.count;
    if (shard_ == map.ranks) {
      tensor_ = kSums;
      slab_ = segment.source;
      return;
    }
    weight_ += map.weight_shift[segment.source][static_cast<std::size_t>(peer_)];
    const bool own = peer_ == map.rank;
    tensor_ = segment.source + (own ? 0 : kStaged);
    slab_ = own ? 0 : peer_;
  }

  int shard_ = PullMap::kMaxRanks + 1;  // no map has more: ended
  int peer_ = 0, segment_ = 0, end_ = 0, left_ = 0;
  int tensor_ = 0, slab_ = 0, column_ = 0, weight_ = 0;
  bool opens_shard_ = false;
};

}  // namespace megaup::ops
