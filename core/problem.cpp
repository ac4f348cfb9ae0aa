#include <megaup/core/problem.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace megaup::core {
namespace {

Reason non_positive(const Problem& p) {
  const std::array<std::pair<const char*, std::int64_t>, 7> sizes{{{"P (ranks)", p.P},
                                                                   {"B (sequences)", p.B},
                                                                   {"s (local tokens a sequence)", p.s},
                                                                   {"H (hidden)", p.H},
                                                                   {"Hq (query heads)", p.Hq},
                                                                   {"Hk (KV heads)", p.Hk},
                                                                   {"D (features a head)", p.D}}};
  for (const auto& [what, value] : sizes)
    if (value <= 0) return fmt::format("{} is {}: every size must be at least 1", what, value);
  return {};
}

/// Products are checked in floating point first: the integers below must not overflow while they are being judged.
Reason too_large(const Problem& p) {
  const double rows = static_cast<double>(p.B) * static_cast<double>(p.s) * static_cast<double>(p.P);
  const double columns = static_cast<double>(p.Hq + 2 * p.Hk) * static_cast<double>(p.D);
  const double limit = 1.8e16;  // 2^54: sums of a cell's tensors in bytes stay within 64 bits too
  if (rows * columns > limit || columns * static_cast<double>(p.H) > limit || rows * static_cast<double>(p.H) > limit)
    return fmt::format("tokens {:.3g} x columns {:.3g} x hidden {} do not fit 64-bit offsets", rows, columns, p.H);
  return {};
}

Reason heads(const Problem& p) {
  if (p.Hq % p.Hk != 0)
    return fmt::format("query heads {} are not a multiple of KV heads {} (Hq % Hk must be 0)", p.Hq, p.Hk);
  if (p.Hq % p.P != 0)
    return fmt::format("query heads {} cannot be divided over cp {} ranks (Hq % P = {}): choose a cp that divides {}", p.Hq,
                       p.P, p.Hq % p.P, p.Hq);
  if (p.Hk % p.P == 0) return {};
  if (p.Hk < p.P && p.P % p.Hk == 0) {
    if (p.kv_replication) return {};
    return fmt::format("KV heads {} are fewer than cp {} ranks: set kv_replication: true to give each KV head to {} ranks, or "
                       "choose cp <= {}",
                       p.Hk, p.P, p.P / p.Hk, p.Hk);
  }
  return fmt::format("KV heads {} cannot be divided over cp {} ranks, nor ranks over heads: neither divides the other", p.Hk, p.P);
}

}  // namespace

std::string_view name(ActivationFormat value) {
  switch (value) {
    case ActivationFormat::sbhd: return "sbhd";
    case ActivationFormat::bshd: return "bshd";
    case ActivationFormat::thd: return "thd";
  }
  return "?";
}

std::string_view name(SequenceOrder value) { return value == SequenceOrder::contiguous ? "contiguous" : "dual_chunk"; }
std::string_view name(QkvWeight value) { return value == QkvWeight::grouped ? "grouped" : "concatenated"; }

Reason refusal(const Problem& p) {
  if (auto why = non_positive(p)) return why;
  if (auto why = heads(p)) return why;
  if (auto why = too_large(p)) return why;
  if (p.order == SequenceOrder::dual_chunk && p.s % 2 != 0)
    return fmt::format("dual_chunk needs S to be a multiple of 2*P = {}: S = {} gives {} local tokens a sequence, an odd number",
                       2 * p.P, p.S(), p.s);
  return {};
}

}  // namespace megaup::core
