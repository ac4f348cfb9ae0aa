#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <megaup/experiments/plan.hpp>
#include <megaup/experiments/run.hpp>

/// What `run` and `resume` share.
namespace megaup::cli {

/// Names of operations and arms that exist in this program, for the spec parser.
class KnownTables {
 public:
  KnownTables();
  experiments::KnownNames names() const { return {operations_, arms_, bounds_}; }

 private:
  std::vector<std::string_view> operations_, arms_, bounds_;
};

struct MeasureRequest {
  std::string spec;              ///< path or shipped name; for resume the kept spec's name
  std::filesystem::path output;
  bool overwrite = false, resume = false;
  std::string yaml;              ///< resume: the spec's bytes; empty: load `spec`
};

/// Plans, measures, writes, prints the table. Returns the exit status.
int measure(const MeasureRequest& request);

}  // namespace megaup::cli
