#pragma once

#include <cstdint>
#include <string>

#include <megaup/core/problem.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

/// Peak bytes of one rank while it measures a cell, decided before anything is allocated. The one place that knows what the arms hold.
/// With a device, bytes of that.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec);

/// Why ranks that need so much do not fit on one device of that size; empty if they do, or the size is 0: not known.
std::string device_refusal(const core::Problem& problem, const Spec& spec, std::int64_t rank_bytes, std::int64_t device_bytes);

}  // namespace megaup::experiments
