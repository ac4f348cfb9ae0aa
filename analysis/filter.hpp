#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <megaup/analysis/row.hpp>

namespace megaup::analysis {

/// Which rows are wanted: "model=llama-3.1-8b,cp=2,cp=4". The values of one key are alternatives, different keys must
/// all hold. Keys: model, cp, tokens_per_rank, status, baseline, candidate, source, fabric, cell, file.
class Filter {
 public:
  /// Everything.
  Filter() = default;
  /// Throws Error{usage} for an unknown key (with the known ones), a missing '=', or a count that is not a whole
  /// number.
  explicit Filter(const std::vector<std::string>& texts);

  bool accepts(const Row& row) const;
  bool empty() const { return terms_.empty(); }

 private:
  struct Term {
    std::string key;
    std::vector<std::string> values;
  };
  void add(std::string_view text);

  std::vector<Term> terms_;
};

}  // namespace megaup::analysis
