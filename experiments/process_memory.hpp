#pragma once

#include <cstdint>
#include <optional>

namespace megaup::experiments {

/// Peak memory of this process above what it had when the watch began, in bytes: anonymous pages, and pages shared with
/// other processes (the windows of MPI ranks) by this process's share of them. Pages of files, such as the text of
/// libraries, are left out: they are nobody's allocation.
///
/// One watch a process at a time. The system keeps only one mark, and only for the sum of all pages; so each phase must
/// end in look(), while what it shared is still mapped.
class PeakMemory {
 public:
  PeakMemory();
  /// Ends a phase: takes its peak and starts the next one.
  void look();
  /// The highest peak of all phases; nothing where the system does not tell.
  std::optional<std::int64_t> bytes() const { return peak_; }

 private:
  std::optional<std::int64_t> before_, peak_;
};

}  // namespace megaup::experiments
