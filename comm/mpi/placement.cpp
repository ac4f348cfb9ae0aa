#include <megaup/comm/mpi/detail/placement.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace megaup::comm::mpi {

Placement place(const std::vector<int>& nodes, int rank) {
  const auto mine = nodes.begin() + rank;
  return {.rank_on_node = static_cast<int>(std::count(nodes.begin(), mine, *mine)),
          .ranks_on_node = static_cast<int>(std::count(nodes.begin(), nodes.end(), *mine)),
          .nodes = static_cast<int>(std::set<int>(nodes.begin(), nodes.end()).size())};
}

core::Reason apart(const Placement& placement) {
  if (placement.nodes == 1) return std::nullopt;
  return fmt::format(
      "ranks are on {} nodes: shared memory reaches the ranks of one node only; put all ranks of a group on one node",
      placement.nodes);
}

}  // namespace megaup::comm::mpi
