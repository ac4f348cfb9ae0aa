#include <megaup/comm/device_choice.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include <fmt/format.h>

namespace megaup::comm {
namespace {

constexpr const char* kHidden =
    "the launcher hides devices from ranks (CUDA_VISIBLE_DEVICES; Slurm: --gpus-per-task, --gpu-bind): let every rank "
    "see all devices of the node, or each one of its own";

}  // namespace

DeviceViews device_views(Communicator& group, const std::vector<std::string>& mine) {
  DeviceViews views;
  for (const std::string& text : group.all_gather(std::string_view(fmt::format("{}", fmt::join(mine, " "))))) {
    std::istringstream words(text);
    views.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return views;
}

int device_of(const DeviceViews& views, int rank) {
  const auto mine = views.begin() + rank;
  return static_cast<int>(std::count(views.begin(), mine, *mine));
}

core::Reason no_device_each(const DeviceViews& views) {
  const bool alike = std::ranges::all_of(views, [&](const auto& view) { return view == views.front(); });
  if (alike && views.size() > views.front().size())
    return fmt::format(
        "{} ranks and {} CUDA {}: lower cp, or let ranks share a device with backend: {{share_device: true}} (times "
        "are "
        "then emulated)",
        views.size(), views.front().size(), views.front().size() == 1 ? "device" : "devices");
  std::map<std::string, std::size_t> takers;
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    const auto index = static_cast<std::size_t>(device_of(views, static_cast<int>(rank)));
    if (index >= views[rank].size())
      return fmt::format("no device is left for rank {}: it sees {}, as other ranks do: {}", rank,
                         views[rank].empty() ? "none" : fmt::format("{}", fmt::join(views[rank], ", ")), kHidden);
    const auto [first, taken] = takers.emplace(views[rank][index], rank);
    if (!taken)
      return fmt::format("ranks {} and {} would have the same device ({}): {}", first->second, rank, first->first,
                         kHidden);
  }
  return {};
}

}  // namespace megaup::comm
