#pragma once

#include <cstdint>

#include <megaup/core/problem.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

/// Peak bytes of one rank while it measures a cell, decided before anything is allocated. The one place that knows what the arms hold.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec);

}  // namespace megaup::experiments
