#include <megaup/ops/host_gemm.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/error.hpp>

namespace megaup::ops {

extern const GemmProvider onednn_bf16_provider, onednn_bf16_dense_provider, onednn_f32_provider,
    onednn_f32_dense_provider;

std::span<const GemmProvider* const> gemm_providers() {
  static constexpr std::array kProviders{&onednn_bf16_provider, &onednn_bf16_dense_provider, &onednn_f32_provider,
                                         &onednn_f32_dense_provider};
  return kProviders;
}

std::unique_ptr<HostGemm> prepare_host_gemm(std::string_view provider, const GemmShape& shape,
                                            std::span<const std::int64_t> shard_columns, int threads) {
  const auto found = std::ranges::find(gemm_providers(), provider, &GemmProvider::name);
  if (found == gemm_providers().end()) {
    std::vector<std::string_view> names;
    for (const GemmProvider* p : gemm_providers()) names.push_back(p->name);
    throw core::Error(core::ErrorKind::usage, fmt::format("there is no GEMM provider '{}': choose one of {}", provider,
                                                          fmt::join(names, ", ")));
  }
  const std::array whole{shape.k};
  if (shard_columns.empty()) shard_columns = whole;
  const std::int64_t sum = std::reduce(shard_columns.begin(), shard_columns.end());
  if (sum != shape.k)
    throw core::Error(core::ErrorKind::usage,
                      fmt::format("the shards of A have {} columns together ({}), the GEMM has k = {}", sum,
                                  fmt::join(shard_columns, " + "), shape.k));
  if (auto why = (*found)->infeasible(shape))
    throw core::Error(core::ErrorKind::cell, fmt::format("GEMM provider {}: {}", provider, *why));
  return (*found)->prepare(shape, shard_columns, threads);
}

}  // namespace megaup::ops
