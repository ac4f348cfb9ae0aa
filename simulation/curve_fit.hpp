#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <megaup/simulation/machine.hpp>
#include <megaup/simulation/measurements.hpp>

namespace megaup::simulation {

/// The value with six significant digits: what a machine file shows is what was fitted.
double rounded(double value);

/// The exchange curves of the cells, one for each transport and number of ranks. Of the default transport from exchange_only; of another one
/// from its packed arm: native_packed_X - gemm_only - reorder_only - gap. Times of one size: their mean. Where more bytes were faster, pooled
/// to one time, so that the curve never falls (pool adjacent violators, the least squares of curves that do not fall).
std::vector<ExchangeCurve> fit_curves(const std::vector<const MeasuredCell*>& cells, const Machine& machine,
                                      const std::string& source, const std::string& date);

}  // namespace megaup::simulation
