#pragma once

#include <megaup/core/record.hpp>
#include <megaup/core/record_source.hpp>

namespace megaup::core::detail {

/// The text, whole number or number of an attribute with exactly one element.
std::optional<Attribute> scalar(const Value& value);
std::optional<Attribute> scalar(Value&& value);

/// Reads the group of a cell. What is wrong with it goes into its `fault`, never further: the file's other cells stay usable.
CellRecord read_cell(RecordSource& source, const Node& node, const std::string& id, CellParts parts);

}  // namespace megaup::core::detail
