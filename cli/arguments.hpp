#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace megaup::cli {

/// Parses a command's arguments (argv[0] is the command's name). Nothing: go on. Else the exit status: 0 after --help (printed on stdout),
/// 2 after a mistake (named on stderr with the way to help).
std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv);

}  // namespace megaup::cli
