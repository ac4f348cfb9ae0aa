#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include <megaup/comm/communicator.hpp>
#include <megaup/experiments/environment.hpp>
#include <megaup/experiments/spec.hpp>

/// What experiments ask of CUDA devices.
namespace megaup::experiments {

/// Why the environment does not let ranks run as the spec wants, with the mend. Calls nothing of CUDA, which reads these
/// variables once: ask before.
core::Reason unfit_variables(const Spec& spec, const ReadVariable& variable);

/// How long enqueued work and peers are waited for: a fault costs this once, and no launch takes so long.
std::chrono::duration<double> device_patience(const Spec& spec);

/// The ranks of `world` with the devices that the spec wants. Collective. Throws AgreedError with the errors of
/// comm::with_device.
std::unique_ptr<comm::Communicator> take_devices(comm::Communicator& world, const Spec& spec);

/// Adds what a reader must know: every device that this process sees, driver, CUDA, NCCL. Requires !core::no_cuda().
void describe_devices(std::map<std::string, std::string>& environment);
/// The part of it that a measured number depends on.
std::string device_identity();
/// Memory of the smallest device.
std::int64_t smallest_device_bytes();

}  // namespace megaup::experiments
