#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <megaup/core/operation.hpp>
#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {

enum class NativeWay : std::uint8_t { packed, pipelined, chunked };

/// What the name of a native arm says: native_packed_ce is `packed` by copy_engine.
struct NativeArm {
  NativeWay way;
  std::string transport;
};
/// Nothing for a name that is none of native_{packed,pipelined,chunked}{,_window,_zero_cta,_ce}.
std::optional<NativeArm> native_arm(const Machine& machine, std::string_view name);

/// The machine whose arms without a suffix exchange by `transport`. Held-out errors belong to a transport: theirs become those of the arm
/// with that suffix, or none.
Machine with_transport(const Machine& machine, const std::string& transport);

/// Row chunks of native_chunked: four at most, of 1024 rows at least but for the last one.
std::int64_t row_chunks(std::int64_t rows);

/// Seconds of a native arm, both ways round:
///   packed     gemm + pack + exchange + unpack + gap
///   pipelined  gemm + pipeline of Q, K and V (one part in out_*, which is `packed`) + gap
///   chunked    pipeline of row chunks + gap, each with its share of the GEMM and a launch; two in flight. No share is rounded up to whole
///              waves: on an H200 a chunk of 2048 rows took a quarter of what 8192 rows did, the library picks another tile
/// and never less than its GEMM or its exchange alone. Cannot: a part cannot be predicted.
Answer<Estimate> native_time(const Machine& machine, const NativeArm& arm, const core::OperationForm& op,
                             const core::Problem& problem);

}  // namespace megaup::simulation
