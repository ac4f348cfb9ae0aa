#pragma once

#include <span>
#include <string_view>

namespace megaup::cli {

/// A command of the program. `run` gets its own name as argv[0], prints results on stdout and messages on stderr, returns the exit status
/// (0 all well; 2 usage; 3 some cells failed; 4 environment; 5 stopped, resumable; 6 validation mismatch) and may throw core::Error.
struct Command {
  std::string_view name, doc;
  int (*run)(int argc, char** argv);
};
std::span<const Command* const> commands();

/// Commands that this build lacks, and why.
struct AbsentCommand {
  std::string_view name, reason;
};
std::span<const AbsentCommand> absent_commands();

}  // namespace megaup::cli
