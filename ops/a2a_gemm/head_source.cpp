#include <megaup/ops/a2a_gemm/head_source.hpp>

#include <algorithm>

namespace megaup::ops {
namespace {

std::vector<HomeRun> runs_of(const Operation& op, const core::Problem& problem, bool replicated) {
  std::vector<HomeRun> runs = home_runs({problem, op.columns});
  std::erase_if(runs, [=](const HomeRun& run) { return (run.copies > 1) != replicated; });
  return runs;
}

std::int64_t total_columns(const std::vector<HomeRun>& runs) {
  std::int64_t columns = 0;
  for (const HomeRun& run : runs) columns += run.columns;
  return columns;
}

}  // namespace

HeadSource::HeadSource(const Operands& operands, std::function<void(int)> ready)
    : P_(static_cast<int>(operands.problem().P)),
      ready_(std::move(ready)),
      rows_(destination_rows(operands.problem(), operands.rank())),
      staging_(static_cast<std::size_t>(staging_bytes(operands.operation(), operands.problem()))) {
  const auto runs = runs_of(operands.operation(), operands.problem(), false);
  for (int k = 0; k < P_; ++k) {
    Shard shard{{}, {}, (operands.rank() + k) % P_};
    for (const HomeRun& run : runs) {
      if (run.rank != shard.peer) continue;
      shard.segments.push_back({run.wide, run.columns});
      shard.places.push_back(place(operands, run, shard.peer));
    }
    shards_.push_back(std::move(shard));
  }
  add_sum_shard(operands);
}

void HeadSource::add_sum_shard(const Operands& operands) {
  const auto runs = runs_of(operands.operation(), operands.problem(), true);
  if (runs.empty()) return;
  staging_ld_ = total_columns(runs);
  Shard shard{{}, {}, kSums};
  core::Bf16* to = staging_.as<core::Bf16>();
  for (const HomeRun& run : runs) {
    shard.segments.push_back({run.wide, run.columns});
    shard.places.push_back({to, staging_ld_});
    Sum sum{{}, to, run.columns};
    for (int c = 0; c < run.copies; ++c) sum.copies.push_back(place(operands, run, run.rank + c));
    sums_.push_back(std::move(sum));
    to += run.columns;
  }
  shards_.push_back(std::move(shard));
}

HeadSource::Place HeadSource::place(const Operands& operands, const HomeRun& run, int rank) {
  const core::Bf16Matrix tensor = operands.peer_heads(rank)[run.kind];
  return {tensor.data + run.local, tensor.ld};
}

std::vector<std::int64_t> HeadSource::shard_columns(const Operation& op, const core::Problem& problem) {
  const std::int64_t summed = total_columns(runs_of(op, problem, true));
  const std::int64_t others = total_columns(runs_of(op, problem, false));
  std::vector<std::int64_t> columns(static_cast<std::size_t>(problem.P), others / problem.P);
  if (summed > 0) columns.push_back(summed);
  return columns;
}

std::int64_t HeadSource::staging_bytes(const Operation& op, const core::Problem& problem) {
  return problem.M() * total_columns(runs_of(op, problem, true)) * core::kElementBytes;
}

void HeadSource::wait(int shard) {
  const int peer = shards_[static_cast<std::size_t>(shard)].peer;
  if (peer != kSums) return ready_(peer);
  for (int p = 0; p < P_; ++p) ready_(p);
  add_replicas();
}

const core::Bf16* HeadSource::row(int shard, int segment, std::int64_t i) const {
  const Shard& s = shards_[static_cast<std::size_t>(shard)];
  const Place& place = s.places[static_cast<std::size_t>(segment)];
  return place.base + (s.peer == kSums ? i : rows_[static_cast<std::size_t>(i)]) * place.ld;
}

void HeadSource::add_replicas() {
  for (const Sum& sum : sums_)
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      core::Bf16* to = sum.to + static_cast<std::int64_t>(i) * staging_ld_;
      const auto element = [&](const Place& copy, std::int64_t j) {
        return copy.base[rows_[i] * copy.ld + j].to_float();
      };
      for (std::int64_t j = 0; j < sum.columns; ++j) {
        float total = element(sum.copies[0], j);
        for (std::size_t c = 1; c < sum.copies.size(); ++c) total += element(sum.copies[c], j);
        to[j] = core::Bf16::from_float(total);
      }
    }
}

void HeadSource::poison() { std::ranges::fill(staging_.bytes(), std::byte{0xFF}); }

}  // namespace megaup::ops
