#pragma once

#include <megaup/core/error.hpp>

namespace megaup::comm::mpi {

/// MPI from its start to its end. A program that has initialised MPI by itself keeps it: then nothing is started or
/// ended here.
class Session {
 public:
  /// Throws Error{environment} if MPI was ended already, or offers fewer threads than MPI_THREAD_FUNNELED: one thread a
  /// process makes MPI calls, others (compute threads, a signal watcher) exist.
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Collective. Not called when the launch is torn down.
  void end();

 private:
  bool owner_ = false;
};

/// Why MPI cannot be used in this process.
core::Reason no_session();

}  // namespace megaup::comm::mpi
