#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <megaup/core/error.hpp>

namespace megaup::comm {

/// Thrown out of the waits of ranks that end because another rank failed. It is never the first cause: launch() drops
/// it.
class PeerAborted final : public core::Error {
 public:
  PeerAborted(int by, int rank);
};

/// What a rank must know in order to wait. One launch, one set of rules.
struct WaitRules {
  int rank = 0;                            ///< of the launch; named in errors
  std::chrono::duration<double> patience;  ///< after this the watchdog speaks
  bool crowded = false;                    ///< more ranks than cores: give the core away at once
  std::uint32_t* aborted_by = nullptr;     ///< 0, or 1 + the rank that ended the launch; read as an atomic
};

/// The one way to wait: spin for some microseconds (a peer that is nearly there), then yield (a peer that needs this
/// core), then sleep shortly (a peer that is far away).
class Waiting {
 public:
  explicit Waiting(const WaitRules& rules) : rules_(rules), spins_left_(rules.crowded ? kCrowdedSpins : kSpins) {}

  /// Lets a little time pass. False when patience is over. Throws PeerAborted when the launch is ended.
  bool step();

 private:
  static constexpr int kSpins = 500, kCrowdedSpins = 20;

  const WaitRules& rules_;
  int spins_left_;
  std::chrono::steady_clock::time_point since_{};  // start of the yielding
};

/// Throws PeerAborted if the launch is ended.
void throw_if_aborted(const WaitRules& rules);

/// Error{cell} of this rank: "waited t s for " + missing.
core::Error impatience(const WaitRules& rules, const std::string& missing);

/// Waits until ready(). Throws PeerAborted, or impatience(rules, missing()).
template <class Ready, class Missing>
void wait_until(const WaitRules& rules, Ready ready, Missing missing) {
  Waiting waiting(rules);
  while (!ready())
    if (!waiting.step()) throw impatience(rules, missing());
}

}  // namespace megaup::comm
