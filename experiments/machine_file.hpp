#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <megaup/simulation/machine.hpp>

namespace megaup::experiments {

/// A machine with the bytes that state it. docs/simulation.md is the user's view of the file.
struct MachineFile {
  std::string file;  ///< path, or name of a shipped machine: for messages
  std::string yaml;  ///< the bytes as given
  simulation::Machine machine;
};

/// Reads a machine file; `file` is what messages call it. Throws core::Error{usage} whose text lists every error as file:line:column with
/// the source line, as parse_spec does: unknown keys, missing ones, figures without unit, source or date, and what simulation::violations
/// finds.
simulation::Machine parse_machine(std::string_view yaml, const std::string& file);

/// Reads the machine at a path, or the shipped machine of that name when `argument` names no file. Throws core::Error{usage}: no such file
/// and no such machine (the nearest name and the list), not readable, or as parse_machine.
MachineFile load_machine(const std::string& argument);

/// Names of experiments/machines, sorted.
std::vector<std::string> shipped_machines();

/// The machine as a file: parse_machine of it is the same machine, to the last bit.
std::string machine_yaml(const simulation::Machine& machine);

}  // namespace megaup::experiments
