#pragma once

#include <string>

#include <megaup/experiments/plan.hpp>

namespace megaup::experiments {

/// A cell from one value for each key; refused ones say why. `world` as in PlanOptions. Fills everything but bytes and FLOP.
Cell make_cell(const CellValues& values, const Spec& spec, std::int64_t world);

/// True if each key of the rule has one of its values in the cell: sizes of a named model count too, as do both ways to state the
/// tokens where they are whole numbers.
bool matches(const CellProduct& rule, const CellValues& values, const Cell& cell);

/// Floating-point operations of a cell's GEMMs: all ranks, arms that multiply, blocks, warm-ups and observations.
double total_flop(const Cell& cell, const Spec& spec);

}  // namespace megaup::experiments
