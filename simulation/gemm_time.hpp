#pragma once

#include <megaup/core/operation.hpp>
#include <megaup/simulation/answer.hpp>
#include <megaup/simulation/machine.hpp>

namespace megaup::simulation {

/// Tiles of a GEMM of m rows and n columns in rounds of one tile a multiprocessor: ceil(ceil(m/bm)*ceil(n/bn) / multiprocessors).
std::int64_t waves(const Machine& machine, const core::GemmShape& shape);

/// FLOP of a wave in which every multiprocessor has a tile: 2 * multiprocessors * bm * bn * k.
double full_wave_flop(const Machine& machine, std::int64_t k);

/// Seconds of a GEMM alone, by the first of these rules that applies:
///   measured      a table has the shape
///   interpolated  the shape lies within the least and largest m, n and k of one table: FLOP / r, where ln r is the mean of ln(FLOP / seconds) of
///                 the kNearest nearest points, weighed by 1 / distance^2; distance is that of (ln m, ln n, ln k)
///   rate          launch + waves * (2 * multiprocessors * bm * bn * k) / gemm rate: a last wave costs as much as a full one
/// Points of the other form of weight count only where a table has none of the right one. Cannot: no table reaches and there is no gemm rate
/// or number of multiprocessors. Cost: points.
Answer<Estimate> gemm_time(const Machine& machine, const core::GemmShape& shape);

inline constexpr std::size_t kNearest = 4;

}  // namespace megaup::simulation
