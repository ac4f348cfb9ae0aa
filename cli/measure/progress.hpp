#pragma once

#include <megaup/experiments/run.hpp>

namespace megaup::cli {

/// Tells a person on stderr how far a run is. One line a cell when it ends; on a terminal also a line that says what is in hand, which the
/// next line replaces (a batch log stays free of it).
class Progress {
 public:
  explicit Progress(bool terminal) : terminal_(terminal) {}
  void show(const experiments::CellEvent& event);

 private:
  void clear_line() const;
  bool terminal_;
};

}  // namespace megaup::cli
