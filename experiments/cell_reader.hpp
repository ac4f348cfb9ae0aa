#pragma once

#include <optional>
#include <string>

#include <megaup/experiments/catalogue.hpp>
#include <megaup/experiments/spec.hpp>
#include <megaup/experiments/yaml_tree.hpp>

namespace megaup::experiments {

/// Reads the parts of a spec that make cells: workload, matrix, include, exclude. They share their keys, hence one reader.
class CellReader {
 public:
  /// `models` are all that may be named; those that are go into `spec`.
  CellReader(Spec& spec, const Models& models, Diagnostics& diagnostics);

  /// One value a key. Read it first: the others are checked against it.
  void workload(const YamlNode& node);
  void matrix(const YamlNode& node);
  void include(const YamlNode& node);
  void exclude(const YamlNode& node);
  /// Gives the workload the defaults of the keys that it does not state. Call it last.
  void fill_defaults();

 private:
  std::optional<CellValue> value(const YamlNode& node, CellKey key);
  std::optional<CellValue> model(const YamlNode& node);
  Axis axis(const YamlNode& node, CellKey key);
  CellProduct product(const YamlNode& node, const std::string& what);
  /// Refuses keys that contradict each other, and a product of which no cell can be made.
  void check_alternatives(const MapReader& reader, const CellProduct& product);
  void check_complete(const CellProduct& product, const YamlNode& node, const std::string& what);

  CellProduct workload_;  ///< as stated, values that were refused left out
  Spec& spec_;
  const Models& models_;
  Diagnostics& diagnostics_;
};

}  // namespace megaup::experiments
