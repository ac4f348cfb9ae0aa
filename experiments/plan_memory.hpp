#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <megaup/core/problem.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

/// GEMM provider of each operation; one that is not there is not known yet.
using GemmProviders = std::map<std::string, std::string, std::less<>>;

/// Peak bytes of one rank while it measures a cell, decided before anything is allocated. The one place that knows what
/// the arms hold. An operation whose provider is not known counts with the one that takes the most. With device: cuda, bytes of the device.
std::int64_t planned_bytes(const core::Problem& problem, const Spec& spec, const GemmProviders& providers = {});

/// For each operation the provider that takes the least: a plan cannot know which one the run finds fastest.
GemmProviders leanest_providers(const core::Problem& problem, const Spec& spec);

/// Why ranks that need so much do not fit on one device of that size; empty if they do, or the size is 0: not known.
std::string device_refusal(const core::Problem& problem, const Spec& spec, std::int64_t rank_bytes, std::int64_t device_bytes);

}  // namespace megaup::experiments
