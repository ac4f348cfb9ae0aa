#pragma once

#include <cstdint>
#include <string_view>

#include <megaup/core/error.hpp>
#include <megaup/core/host_device.hpp>

namespace megaup::core {

/// Row order of activations: sbhd row = u*B + b, bshd row = b*s + u, thd = packed equal sequences (start[b] = b*S).
enum class ActivationFormat : std::uint8_t { sbhd, bshd, thd };
/// Which global tokens a rank holds: contiguous g = r*s + u; dual_chunk: chunks r and 2P-1-r of 2P (load balanced).
enum class SequenceOrder : std::uint8_t { contiguous, dual_chunk };
/// Row order of the packed QKV weight: grouped (a*(Q+2)+j)*D+d, or concatenated [Q | K | V].
enum class QkvWeight : std::uint8_t { grouped, concatenated };

std::string_view name(ActivationFormat value);
std::string_view name(SequenceOrder value);
std::string_view name(QkvWeight value);

/// One context-parallel attention block as the four operations see it. Symbols:
///   P ranks · B sequences · s local tokens of each · H hidden · Hq, Hk query and KV heads · D features a head
/// and from them S = P*s, M = B*s, Q = Hq/Hk, N = (Hq + 2*Hk)*D. Elements are BF16 (e = 2 bytes).
struct Problem {
  std::int64_t P = 1, B = 1, s = 1, H = 1, Hq = 1, Hk = 1, D = 1;
  ActivationFormat format = ActivationFormat::sbhd;
  SequenceOrder order = SequenceOrder::contiguous;
  QkvWeight qkv_weight = QkvWeight::grouped;
  bool kv_replication = false;  ///< allow Hk < P: each KV head lives on P/Hk ranks

  MEGAUP_HD constexpr std::int64_t S() const { return P * s; }
  MEGAUP_HD constexpr std::int64_t M() const { return B * s; }
  MEGAUP_HD constexpr std::int64_t Q() const { return Hq / Hk; }
  MEGAUP_HD constexpr std::int64_t N() const { return (Hq + 2 * Hk) * D; }
  /// Ranks that hold each KV head: 1, or P/Hk with KV replication.
  MEGAUP_HD constexpr std::int64_t kv_copies() const { return Hk < P ? P / Hk : 1; }
  MEGAUP_HD constexpr std::int64_t local_query_heads() const { return Hq / P; }
  MEGAUP_HD constexpr std::int64_t local_kv_heads() const { return Hk < P ? 1 : Hk / P; }

  friend constexpr bool operator==(const Problem&, const Problem&) = default;
};

constexpr std::int64_t kElementBytes = 2;  // BF16, the only element type of this version

/// The reason why no implementation may run this problem, with the numbers and the mend; nothing if it is sound. Pure: decides before
/// any allocation. Refused: sizes <= 0, Hq % Hk, Hq % P, Hk % P (unless kv_replication and P % Hk == 0), odd s with dual_chunk,
/// element counts of a tensor beyond 2^54.
Reason refusal(const Problem& problem);

}  // namespace megaup::core
