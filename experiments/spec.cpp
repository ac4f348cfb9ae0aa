#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {

std::vector<std::string> Arms::all() const {
  std::vector<std::string> names = baselines;
  names.push_back(candidate);
  if (control) names.emplace_back(kControl);
  names.insert(names.end(), bounds.begin(), bounds.end());
  return names;
}

const std::string& Arms::row(const std::string& arm) const {
  return control && arm == kControl ? baselines.front() : arm;
}

std::string_view name(Cadence value) { return value == Cadence::barrier ? "barrier" : "back_to_back"; }
std::string_view name(Cache value) { return value == Cache::warm ? "warm" : "cold"; }
std::string_view name(Schedule value) { return value == Schedule::blocked ? "blocked" : "interleaved"; }
std::string_view name(DeviceKind value) { return value == DeviceKind::host ? "host" : "cuda"; }
std::string_view name(ValidateMode value) { return value == ValidateMode::before ? "before" : "every"; }

std::string_view name(CommunicatorChoice value) {
  switch (value) {
    case CommunicatorChoice::automatic: return "auto";
    case CommunicatorChoice::self: return "self";
    case CommunicatorChoice::threads: return "threads";
    case CommunicatorChoice::mpi: return "mpi";
  }
  return "?";
}

}  // namespace megaup::experiments
