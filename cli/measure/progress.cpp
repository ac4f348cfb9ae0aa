#include <megaup/cli/measure/progress.hpp>

#include <fmt/format.h>

#include <megaup/cli/show.hpp>

namespace megaup::cli {
namespace {

std::string cell_name(const experiments::CellEvent& event) {
  const auto& cell = *event.cell;
  return fmt::format("{} cp {} M {}", cell.model, cell.problem.P, cell.tokens_per_rank);
}

}  // namespace

void Progress::clear_line() const {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(const experiments::CellEvent& event) {
  using Kind = experiments::CellEvent::Kind;
  switch (event.kind) {
    case Kind::begins:
      if (!event.why.empty()) fmt::print(stderr, "{}: {}\n", cell_name(event), event.why);
      if (terminal_) fmt::print(stderr, "[{}/{}] {} ...", event.number, event.total, cell_name(event));
      return;
    case Kind::kept: return;
    case Kind::measured:
      clear_line();
      fmt::print(stderr, "[{}/{}] {}: {} ({:.1f} s)\n", event.number, event.total, cell_name(event), delta_words(*event.record), event.seconds);
      return;
    case Kind::failed:
      clear_line();
      fmt::print(stderr, "[{}/{}] {}: failed: {} ({:.1f} s)\n", event.number, event.total, cell_name(event), event.record->reason, event.seconds);
      return;
  }
}

}  // namespace megaup::cli
