// For every test of this program: Kokkos lives as long as the run, because it cannot be started twice in a process.
#include <optional>

#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <megaup/ops/kokkos_session.hpp>

namespace {

class KokkosListener final : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  void testRunStarting(const Catch::TestRunInfo&) override { session_.emplace(); }
  void testRunEnded(const Catch::TestRunStats&) override { session_.reset(); }

 private:
  std::optional<megaup::ops::KokkosSession> session_;
};

CATCH_REGISTER_LISTENER(KokkosListener)

}  // namespace
