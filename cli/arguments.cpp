#include <megaup/cli/arguments.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <megaup/core/error.hpp>

namespace megaup::cli {

std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv) {
  app.name(fmt::format("megaup {}", argv[0]));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "megaup {}: {}\n  `megaup {} --help` says what it takes\n", argv[0], error.what(), argv[0]);
    return core::exit_status(core::ErrorKind::usage);
  }
  return {};
}

}  // namespace megaup::cli
