#include <link_rows_cuda.cuh>

#include <cstdio>
#include <limits>
#include <numeric>
#include <string>

#include <benchmark_cuda.cuh>

namespace megaup::cuda_tests {

void print(const LinkCell& cell, const Row& row) {
  if (cell.group.rank() != 0) return;
  std::string ranks;
  for (const double ms : row.timed.rank_medians) {
    char text[32];
    std::snprintf(text, sizeof text, "%s%.4f", ranks.empty() ? "" : " ", ms);
    ranks += text;
  }
  const double ms = quantile(row.timed.ms, 0.5);
  std::printf("| %s | %s | %s | %lld | %s | %s | %s | %.4f | %s | %.3f | %.3f-%.3f | %.0f | %.0f | %.0f | %s |\n",
              std::string(cell.group.backend()).c_str(), std::string(cell.operation.name).c_str(),
              std::string(cell.model).c_str(), static_cast<long long>(cell.problem.M()),
              std::string(row.duty.name).c_str(), std::string(row.group).c_str(), row.variant.name.c_str(), ms,
              ranks.c_str(), quantile(row.share, 0.5), quantile(row.share, 0.1), quantile(row.share, 0.9),
              row.clock_hz / 1e6, row.power_w, row.power_w * ms, row.variant.note.c_str());
}

double power_w(const LinkCell& cell, std::chrono::steady_clock::time_point begin) {
  const auto mine = cell.watch.during(begin, std::chrono::steady_clock::now());
  const auto all = cell.group.all_gather(mine ? mine->power_w : std::numeric_limits<double>::quiet_NaN());
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

Times shares(const Times& bare, const Times& ms) {
  Times shares;
  for (std::size_t i = 0; i < ms.size(); ++i) shares.push_back(bare[i] / ms[i]);
  return shares;
}

}  // namespace megaup::cuda_tests
