#include <megaup/simulation/calibrate.hpp>

#include <megaup/simulation/curve_fit.hpp>
#include <megaup/simulation/fit.hpp>
#include <megaup/simulation/validate.hpp>

namespace megaup::simulation {

Answer<Machine> calibrate(const Measurements& measurements, const std::optional<Machine>& base, const std::string& name,
                          const std::string& description) {
  std::vector<const MeasuredCell*> all;
  for (const MeasuredCell& cell : measurements.cells) all.push_back(&cell);
  if (all.empty()) return Cannot{"there is no measured cell to calibrate from"};
  auto machine = fit(all, base);
  if (!machine) return machine;
  machine->name = name;
  machine->description = description;
  for (const MeasuredCell& cell : measurements.cells)
    machine->cells.push_back({cell.file, cell.cell, cell.model, cell.problem, cell.arms, {}});
  // Without a second model or a fused arm there is nothing to hold out, and so no interval: predictions then say so.
  if (const auto validation = validate(measurements, base))
    for (const HeldOut& one : validation->models)
      machine->cells[one.cell].held_out[one.baseline] = rounded(one.error());
  return machine;
}

}  // namespace megaup::simulation
