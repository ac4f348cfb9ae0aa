#pragma once

#include <megaup/core/embedded_file.hpp>

#include <span>

namespace megaup::experiments {

/// The files of experiments/models, in the order of their names, so that the program works from any folder.
std::span<const core::EmbeddedFile> embedded_models();

/// The files of experiments/specs, in the order of their names.
std::span<const core::EmbeddedFile> embedded_specs();

/// What is the same in all batch scripts: batch_begin.bash, then batch_job.bash.
std::span<const core::EmbeddedFile> embedded_batch();

/// The files of experiments/machines, in the order of their names.
std::span<const core::EmbeddedFile> embedded_machines();

}  // namespace megaup::experiments
