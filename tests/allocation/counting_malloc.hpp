#pragma once

#include <cstdint>

namespace megaup::test {

/// Calls of malloc and its kin by this thread while it counts: those that come from inside oneDNN, and all others.
struct Allocations {
  std::int64_t ours = 0, library = 0;
};

/// Between its construction and `stop`, allocations of this thread are counted.
class Counting {
 public:
  Counting();
  Allocations stop();
};

}  // namespace megaup::test
