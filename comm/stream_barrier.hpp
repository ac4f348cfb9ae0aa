#pragma once

#include <megaup/core/error.hpp>

namespace megaup::comm {

/// A barrier among ranks that is enqueued in their devices' streams: what a rank enqueues after it begins when all ranks
/// have come to it. The host never waits. It can be captured in a graph.
class StreamBarrier {
 public:
  virtual ~StreamBarrier() = default;
  StreamBarrier() = default;
  StreamBarrier(const StreamBarrier&) = delete;
  StreamBarrier& operator=(const StreamBarrier&) = delete;

  /// Ranks: all enqueue it equally often.
  virtual void enqueue() = 0;
  /// After a synchronize(): the rank that did not come in time.
  virtual core::Reason fault() = 0;
};

}  // namespace megaup::comm
