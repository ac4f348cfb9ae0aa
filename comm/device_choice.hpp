#pragma once

#include <string>
#include <vector>

#include <megaup/comm/communicator.hpp>

namespace megaup::comm {

/// The devices that each rank of a node sees, by rank: their UUIDs, in the order of its process. A launcher may show
/// every process all devices, or each process its own (CUDA_VISIBLE_DEVICES, Slurm's --gpus-per-task and --gpu-bind).
using DeviceViews = std::vector<std::vector<std::string>>;

/// The views of all ranks, given this rank's. Collective.
DeviceViews device_views(Communicator& group, const std::vector<std::string>& mine);

/// The device of a rank, as the index in what it sees: one after another among the ranks that see the same. So rank k
/// takes device k where all see all devices, and device 0 where it sees one of its own. Requires no_device_each() to be
/// nothing.
int device_of(const DeviceViews& views, int rank);

/// Why the ranks cannot have a device each: more ranks than devices, or a launcher that hides devices in such a way
/// that two ranks would have the same one. With the mend.
core::Reason no_device_each(const DeviceViews& views);

}  // namespace megaup::comm
