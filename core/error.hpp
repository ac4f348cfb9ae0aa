#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace megaup::core {

/// Why something stopped. Each kind has one documented exit status (see exit_status).
enum class ErrorKind {
  usage,        ///< the spec, a command line or an input file is wrong: exit 2
  cell,         ///< one cell could not be measured, others can: exit 3
  environment,  ///< this machine, launcher or file system cannot do it: exit 4
  stopped,      ///< asked to stop (SIGTERM, SIGINT), resumable: exit 5
  validation,   ///< a result did not match the oracle: exit 6
};

constexpr int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::cell: return 3;
    case ErrorKind::environment: return 4;
    case ErrorKind::stopped: return 5;
    case ErrorKind::validation: return 6;
  }
  return 4;
}

/// An error that tells its reader what is wrong, where, with which values, and what to do about it. The message is complete:
/// printing what() is enough. `rank` is the rank that saw it first (-1: not bound to a rank).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, int rank = -1) : std::runtime_error(message), kind_(kind), rank_(rank) {}
  ErrorKind kind() const noexcept { return kind_; }
  int rank() const noexcept { return rank_; }

 private:
  ErrorKind kind_;
  int rank_;
};

/// "Cannot" is answered by its reason; no reason means "can".
using Reason = std::optional<std::string>;

}  // namespace megaup::core
