#include <megaup/ops/kokkos_session.hpp>

#include <string>

#include <Kokkos_Core.hpp>

namespace megaup::ops {

KokkosSession::KokkosSession(int threads) : started_(!Kokkos::is_initialized()) {
  if (!started_) return;
    // Arguments are the one form of start that 3.4, 4.x and 5.x share. The flag was renamed in 4.0.
#if KOKKOS_VERSION >= 40000
  std::string flag = "--kokkos-num-threads=" + std::to_string(threads);
#else
  std::string flag = "--kokkos-threads=" + std::to_string(threads);
#endif
  std::string program = "megaup";
  char* arguments[] = {program.data(), flag.data(), nullptr};
  int count = 2;
  Kokkos::initialize(count, arguments);
}

KokkosSession::~KokkosSession() {
  if (started_) Kokkos::finalize();
}

}  // namespace megaup::ops
