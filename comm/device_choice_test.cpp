#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <megaup/comm/backend.hpp>
#include <megaup/comm/device_choice.hpp>

namespace megaup::comm {
namespace {

using Catch::Matchers::ContainsSubstring;

/// UUIDs that the ranks take.
std::vector<std::string> taken(const DeviceViews& views) {
  std::vector<std::string> uuids;
  for (std::size_t rank = 0; rank < views.size(); ++rank)
    uuids.push_back(views[rank].at(static_cast<std::size_t>(device_of(views, static_cast<int>(rank)))));
  return uuids;
}

std::string refusal(const DeviceViews& views) { return no_device_each(views).value_or("no reason"); }

TEST_CASE("every rank knows what all see") {
  select_backend("threads").launch({.ranks = 2}, [](Communicator& group) {
    const std::vector<std::string> mine =
        group.rank() == 0 ? std::vector<std::string>{"a"} : std::vector<std::string>{"b", "c"};
    if (device_views(group, mine) != DeviceViews{{"a"}, {"b", "c"}}) throw std::runtime_error("other views");
  });
}

TEST_CASE("rank k takes device k where all ranks see all devices") {
  const DeviceViews views(4, {"a", "b", "c", "d"});
  CHECK_FALSE(no_device_each(views));
  for (int rank = 0; rank < 4; ++rank) CHECK(device_of(views, rank) == rank);
  CHECK_FALSE(no_device_each({{"a", "b"}}));
}

TEST_CASE("a launcher that shows each process its own device: every rank takes ordinal 0") {
  const DeviceViews views{{"a"}, {"b"}, {"c"}, {"d"}};
  CHECK_FALSE(no_device_each(views));
  for (int rank = 0; rank < 4; ++rank) CHECK(device_of(views, rank) == 0);
}

TEST_CASE("ranks that see several devices, but not the same ones, share out what they see") {
  for (const DeviceViews& views : {DeviceViews{{"a", "b"}, {"a", "b"}, {"c", "d"}, {"c", "d"}},
                                   DeviceViews{{"a", "b"}, {"c", "d"}, {"a", "b"}, {"c", "d"}}}) {
    CHECK_FALSE(no_device_each(views));
    CHECK(taken(views).size() == 4);
  }
  CHECK(taken({{"a", "b"}, {"c", "d"}, {"a", "b"}, {"c", "d"}}) == std::vector<std::string>{"a", "c", "b", "d"});
  CHECK_FALSE(no_device_each({{"a", "b"}, {"b", "a"}}));  // the same two in another order
}

TEST_CASE("more ranks than devices are refused with both numbers and the mend") {
  CHECK_THAT(refusal(DeviceViews(6, {"a", "b", "c", "d"})),
             ContainsSubstring("6 ranks and 4 CUDA devices") && ContainsSubstring("share_device"));
  CHECK_THAT(refusal(DeviceViews(2, {"a"})), ContainsSubstring("2 ranks and 1 CUDA device:"));
}

TEST_CASE("two ranks on one device because of what the launcher hides: refused, naming its flags") {
  const std::string both = refusal({{"a", "b"}, {"b"}, {"a"}});
  CHECK_THAT(both, ContainsSubstring("ranks 0 and 2 would have the same device (a)"));
  const std::string none = refusal({{"a"}, {"b"}, {"b"}});
  CHECK_THAT(none, ContainsSubstring("no device is left for rank 2: it sees b"));
  for (const std::string& why : {both, none})
    CHECK_THAT(why, ContainsSubstring("CUDA_VISIBLE_DEVICES") && ContainsSubstring("--gpu-bind"));
}

}  // namespace
}  // namespace megaup::comm
