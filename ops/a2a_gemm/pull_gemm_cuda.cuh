#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <megaup/ops/a2a_gemm/pull_map.hpp>
#include <megaup/ops/a2a_gemm/pull_plan.hpp>
#include <megaup/ops/gemm_a2a/push_gemm_cuda.cuh>

/// The kernels of pull_plan.hpp, to be prepared once and launched often.
namespace megaup::ops {

/// C [M, H] = A [M, K] * B, all BF16, FP32 sums; A is what the ranks' heads hold for this rank's tokens.
struct PullGemm {
  GemmShape shape;         // m = M, n = H, k = K
  const void* weight;      // [H, K] if shape.weight_transposed, else [K, H]; 16-byte aligned
  std::int64_t weight_ld;  // elements between its rows, a multiple of 8
  void* c;                 // [M, H], 16-byte aligned
  std::int64_t c_ld;
  int swizzle;
  int sms;  // SMs that the launch may use; all its blocks must be resident at once
};

/// The heads side. Rank p's tensor of kind t is [B*S, local heads * D], without gaps between rows, at base[p*3 + t], at
/// an address that this device reaches and a multiple of 16 bytes; null where the operation moves no such head.
struct PullHeads {
  const void* base[PullMap::kMaxHomes];
  std::int64_t rows;                // B*S
  std::int64_t widths[kPullKinds];  // local heads * D
  void* staging;                    // pull_staging_bytes() of this device, a multiple of 128 bytes
};

/// Flags of one rank. All words are 0 before the first launch, and epochs compare by their signed difference: a peer
/// whose words are set far ahead (0x3fffffff) has always arrived. Pulls that share these words take turns and have the
/// same map and the same PullMoves::block_rows.
struct PullFlags {
  std::uint32_t* peers[PullMap::kMaxRanks];  ///< pull_peer_words() of each rank, where this device reaches them
  std::uint32_t* local;                      ///< pull_local_words() of this device
  std::uint64_t timeout_ns;                  ///< of each wait
  std::uint32_t pace_ns = 0;                 ///< least time between two starts of a mover, to stand for a link; 0: none

  /// Launches so far, counted on the device.
  constexpr std::uint32_t* epoch() const { return local; }
  /// Movers that have read everything; 0 between launches.
  constexpr std::uint32_t* arrived() const { return local + 1; }
  /// 0, or what pull_fault() puts into words.
  constexpr std::uint32_t* lost() const { return local + 2; }
  constexpr std::uint32_t* landed() const { return local + 4; }
};

using PreparePull = std::unique_ptr<PreparedKernel> (*)(const PullGemm&, const PullMap&, const PullMoves&,
                                                        const PullHeads&, const PullFlags&);
/// The same kernel's GEMM on a wide A [M, K] without gaps.
using PreparePullPlain = std::unique_ptr<PreparedKernel> (*)(const PullGemm&, const void* a);

/// One compiled kernel. A launch says to every peer that this rank's heads are ready (what its stream did before),
/// reads the peers' heads when they are, and ends when all peers have read this rank's: then the heads may be changed.
/// Every rank of the group launches once an epoch. The peers' launches must be able to run at the same time.
struct CompiledPull {
  std::string_view name;  // of pull_kernels()
  Architecture architecture;
  bool weight_transposed;
  PreparePull pull;
  PreparePullPlain plain;
};
/// From a table that the linker checks: one row a file pull_*_sm90_cuda.cu or pull_*_sm100_cuda.cu, for each architecture
/// that the program is built for. A device runs those of its own.
std::span<const CompiledPull* const> compiled_pulls();

}  // namespace megaup::ops
