#include <megaup/simulation/pipeline.hpp>

#include <algorithm>

namespace megaup::simulation {

double pipeline_seconds(const std::vector<PipelinePart>& parts, std::size_t in_flight) {
  double multiprocessors = 0, link = 0;  // when each is free
  std::vector<double> arrival;
  std::size_t unpacked = 0;
  const auto unpack = [&] {
    multiprocessors = std::max(multiprocessors, arrival[unpacked]) + parts[unpacked].after;
    ++unpacked;
  };
  for (const PipelinePart& part : parts) {
    if (arrival.size() - unpacked == in_flight) unpack();
    multiprocessors += part.before;
    link = std::max(multiprocessors, link) + part.exchange;
    arrival.push_back(link);
  }
  while (unpacked < parts.size()) unpack();
  return multiprocessors;
}

}  // namespace megaup::simulation
