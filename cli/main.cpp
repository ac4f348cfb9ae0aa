#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <megaup/cli/command.hpp>
#include <megaup/core/error.hpp>
#include <megaup/core/text.hpp>
#include <megaup/core/version.hpp>

namespace {

using megaup::core::ErrorKind;
using megaup::core::exit_status;

void print_help(std::FILE* out) {
  fmt::print(out,
             "megaup {}: what fusing GEMM and all-to-all saves around attention\n\nusage: megaup COMMAND [ARGUMENTS]   "
             " (megaup COMMAND --help)\n\n",
             megaup::core::version());
  for (const auto* command : megaup::cli::commands()) fmt::print(out, "  {:<10}{}\n", command->name, command->doc);
  for (const auto& absent : megaup::cli::absent_commands())
    fmt::print(out, "  {:<10}not in this build: {}\n", absent.name, absent.reason);
}

int unknown_command(std::string_view name) {
  for (const auto& absent : megaup::cli::absent_commands())
    if (absent.name == name) {
      fmt::print(stderr, "megaup: '{}' is not in this build: {}\n", name, absent.reason);
      return exit_status(ErrorKind::usage);
    }
  std::vector<std::string_view> known;
  for (const auto* command : megaup::cli::commands()) known.push_back(command->name);
  const auto nearest = megaup::core::nearest_name(name, known);
  fmt::print(stderr, "megaup: unknown command '{}'{}; `megaup --help` lists the commands\n", name,
             nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest));
  return exit_status(ErrorKind::usage);
}

int dispatch(int argc, char** argv) {
  if (argc < 2) {
    print_help(stderr);
    return exit_status(ErrorKind::usage);
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(stdout);
    return 0;
  }
  if (name == "--version") {
    fmt::print("megaup {} ({})\n", megaup::core::version(), megaup::core::git_commit());
    return 0;
  }
  for (const auto* command : megaup::cli::commands())
    if (command->name == name) return command->run(argc - 1, argv + 1);
  return unknown_command(name);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int status = dispatch(argc, argv);
    // What stdout did not take (a full disk) is lost: never with the status of a success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      fmt::print(stderr, "megaup: stdout: {}\n", std::strerror(errno));
      return exit_status(ErrorKind::environment);
    }
    return status;
  } catch (const megaup::core::Error& error) {
    if (*error.what() == '\0') return exit_status(error.kind());  // the mpi backend has printed it already, once for all processes
    fmt::print(stderr, "megaup: {}{}\n", error.rank() >= 0 ? fmt::format("rank {}: ", error.rank()) : "", error.what());
    return exit_status(error.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "megaup: out of memory\n");
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) fmt::print(stderr, "megaup: stdout: {}\n", error.what());
    else fmt::print(stderr, "megaup: {}\n", megaup::core::one_line(error.what()));
  }
  return exit_status(ErrorKind::environment);
}
