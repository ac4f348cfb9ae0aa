#include <megaup/comm/mpi/detail/session.hpp>

#include <mpi.h>

#include <fmt/format.h>

#include <megaup/comm/mpi/detail/call.hpp>

namespace megaup::comm::mpi {

core::Reason no_session() {
  int finalized = 0;
  check(MPI_Finalized(&finalized), "MPI_Finalized");
  if (finalized == 0) return std::nullopt;
  return "MPI was started and ended in this process, and can start only once; initialise MPI yourself around several "
         "launches";
}

Session::Session() {
  if (const core::Reason reason = no_session())
    throw core::Error(core::ErrorKind::environment, "communicator mpi: " + *reason);
  int initialized = 0, level = MPI_THREAD_SINGLE;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized == 0) {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
    owner_ = true;
    // Errors of requests are reported here, and by default end the process with words of the library alone.
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  } else {
    check(MPI_Query_thread(&level), "MPI_Query_thread");
  }
  if (level < MPI_THREAD_FUNNELED) {
    end();
    throw core::Error(
        core::ErrorKind::environment,
        fmt::format("communicator mpi: the MPI library gives thread level {}, MPI_THREAD_FUNNELED ({}) is needed",
                    level, static_cast<int>(MPI_THREAD_FUNNELED)));
  }
}

void Session::end() {
  if (owner_) check(MPI_Finalize(), "MPI_Finalize");
  owner_ = false;
}

}  // namespace megaup::comm::mpi
