#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <megaup/core/atomic_file.hpp>
#include <megaup/core/record.hpp>
#include <megaup/core/record_handle.hpp>
#include <megaup/core/record_image.hpp>
#include <megaup/core/record_refusal.hpp>
#include <megaup/core/text.hpp>

namespace megaup::core {
namespace {

using detail::Handle;
using detail::Image;

void put_attributes(const Image& image, Image::Id object, const Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    const auto* text = std::get_if<std::string>(&value);
    image.attribute(object, name, text ? Attribute(as_utf8(*text)) : value);
  }
}

/// A reason may quote a whole log. Its end is the part to lose, and the text says that it was lost.
std::string shortened(const std::string& text) {
  if (text.size() <= detail::kLongestText) return text;
  const auto note = fmt::format(" ... ({} bytes in all)", text.size());
  return as_utf8(text.substr(0, detail::kLongestText - note.size() - 8)) + note;
}

/// The axes of a cell as dimension scales, and its datasets attached to them.
class CellWriter {
 public:
  CellWriter(const Image& image, Image::Id cells, const CellRecord& cell)
      : image_(image), cell_(cell), group_(image.group(cells, cell.id)) {}

  void write() {
    write_attributes();
    write_axes();
    write_order();
    const auto n_operations = cell_.operations.size(), n_arms = cell_.arms.size(), n_blocks = cell_.order.size();
    const auto n_observations = static_cast<std::size_t>(cell_.observations),
               n_ranks = static_cast<std::size_t>(cell_.ranks);
    numbers("latency", cell_.latency, {n_operations, n_arms, n_blocks, n_observations, n_ranks}, "s",
            "time of one operation; NaN: not taken");
    numbers("started", cell_.started, {n_operations, n_arms, n_blocks}, "s",
            "start of the block, seconds since 1970-01-01T00:00:00Z");
    for (const auto& quantity : kDeviceQuantities)
      numbers(quantity.name, cell_.device.*quantity.values, {n_operations, n_arms, n_blocks, n_ranks}, quantity.units,
              quantity.long_name);
    numbers("error_frobenius", cell_.error_frobenius, {n_operations, n_arms}, "1",
            "relative Frobenius error against the FP64 reference");
    numbers("error_max", cell_.error_max, {n_operations, n_arms}, "1",
            "largest error of one element against the FP64 reference");
    numbers("error_bound", cell_.error_bound, {n_operations, n_arms}, "1", "bound by which the errors were judged");
  }

 private:
  void write_attributes() {
    Attributes attributes = cell_.extra;
    attributes.insert({{"model", cell_.model},
                       {"status", cell_.status},
                       {"reason", shortened(cell_.reason)},
                       {"dtype", cell_.dtype},
                       {"format", cell_.format},
                       {"sequence_order", cell_.sequence_order},
                       {"qkv_weight", cell_.qkv_weight},
                       {"hidden", cell_.hidden},
                       {"query_heads", cell_.query_heads},
                       {"kv_heads", cell_.kv_heads},
                       {"head_dim", cell_.head_dim},
                       {"cp", cell_.cp},
                       {"batch", cell_.batch},
                       {"tokens_per_rank", cell_.tokens_per_rank}});
    put_attributes(image_, group_.get(), attributes);
  }

  void write_axes() {
    if (!cell_.operations.empty())
      add_axis("operation", image_.texts(group_.get(), "operation", cell_.operations),
               "operation, in the order of the spec");
    if (!cell_.arms.empty())
      add_axis("arm", image_.texts(group_.get(), "arm", cell_.arms), "way of doing the operation");
    counted_axis("block", static_cast<std::int64_t>(cell_.order.size()), "block, in the order of time");
    counted_axis("observation", cell_.observations, "observation within its block");
    counted_axis("rank", cell_.ranks, "rank within its group");
  }

  void counted_axis(const char* name, std::int64_t length, const char* long_name) {
    if (length == 0) return;
    std::vector<std::int32_t> values(static_cast<std::size_t>(length));
    std::iota(values.begin(), values.end(), 0);
    auto scale = image_.integers(group_.get(), name, values);
    image_.attribute(scale.get(), "units", "1");
    add_axis(name, std::move(scale), long_name);
  }

  void add_axis(const char* name, Handle scale, const char* long_name) {
    image_.make_scale(scale.get(), name);
    image_.attribute(scale.get(), "long_name", long_name);
    axes_.emplace_back(name, std::move(scale));
  }

  void attach(const Handle& dataset, unsigned axis, std::string_view name) {
    for (const auto& [axis_name, scale] : axes_)
      if (axis_name == name) image_.attach(dataset.get(), axis, scale.get(), axis_name);
  }

  void write_order() {
    if (cell_.order.empty()) return;
    const auto order = image_.bytes(group_.get(), "order", cell_.order);
    constexpr std::uint8_t kFlags[] = {0, 1};
    image_.byte_attribute(order.get(), "flag_values", kFlags);
    image_.attribute(order.get(), "flag_meanings", "initial reversed");
    image_.attribute(order.get(), "long_name", "order of arms and operations in the block");
    image_.attribute(order.get(), "units", "1");
    attach(order, 0, "block");
  }

  void numbers(const char* name, const std::vector<double>& values, const Image::Shape& shape, const char* units,
               const char* long_name) {
    if (values.empty()) return;
    const char* axes[] = {"operation", "arm", "block", shape.size() == 4 ? "rank" : "observation", "rank"};
    const auto dataset = image_.numbers(group_.get(), name, shape, values);
    image_.attribute(dataset.get(), "units", units);
    image_.attribute(dataset.get(), "long_name", long_name);
    for (unsigned axis = 0; axis < shape.size(); ++axis) attach(dataset, axis, axes[axis]);
  }

  const Image& image_;
  const CellRecord& cell_;
  Handle group_;
  std::vector<std::pair<std::string, Handle>> axes_;
};

void write_header(const Image& image, const Record& record) {
  Attributes attributes = record.extra;
  attributes.insert({{"format", std::string(kRecordFormat)},
                     {"format_version", std::string(kRecordVersion)},
                     {"created", record.created},
                     {"megaup_version", record.megaup_version},
                     {"git", record.git},
                     {"source", record.source},
                     {"fabric", record.fabric}});
  put_attributes(image, image.root(), attributes);

  const auto spec = image.group(image.root(), "spec");
  image.document(spec.get(), "yaml", record.spec_yaml);
  image.document(spec.get(), "resolved", record.spec_resolved);
  image.attribute(spec.get(), "sha256_yaml", record.spec_sha256_yaml);
  image.attribute(spec.get(), "sha256_resolved", record.spec_sha256_resolved);

  const auto environment = image.group(image.root(), "environment");
  for (const auto& [name, text] : record.environment) image.text(environment.get(), name, as_utf8(text));
}

}  // namespace

void write_record(const Record& record, const std::filesystem::path& path, bool overwrite) {
  if (const auto why = detail::unwritable(record))
    throw Error(ErrorKind::usage, fmt::format("{}: {}", one_line(path.string()), *why));
  std::vector<const CellRecord*> cells;
  for (const auto& cell : record.cells) cells.push_back(&cell);
  std::sort(cells.begin(), cells.end(), [](const CellRecord* a, const CellRecord* b) { return a->id < b->id; });

  const detail::Hdf5 hdf5;
  const Image image;
  write_header(image, record);
  const auto group = image.group(image.root(), "cells");
  for (const auto* cell : cells) CellWriter(image, group.get(), *cell).write();
  write_file(path, image.finish(), overwrite);
}

}  // namespace megaup::core
