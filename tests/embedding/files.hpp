#pragma once

#include <megaup/core/embedded_file.hpp>

#include <span>

namespace megaup::test {

std::span<const core::EmbeddedFile> embedded_files();

}  // namespace megaup::test
