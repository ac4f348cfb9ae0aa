#pragma once

#include <vector>

namespace megaup::comm {

/// Cores on which the calling thread may run (its affinity mask), ascending.
std::vector<int> allowed_cores();

/// Keeps the calling thread on one core; threads that it starts later inherit that. Throws Error{environment} if the
/// system refuses.
void pin_to_core(int core);

}  // namespace megaup::comm
