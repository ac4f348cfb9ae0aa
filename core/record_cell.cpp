#include <megaup/core/record_cell.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/text.hpp>

namespace megaup::core::detail {
namespace {

/// Ends the reading of one part of a cell: the text becomes the cell's fault.
struct Fault {
  std::string text;
};

[[noreturn]] void fault(const std::string& object, const std::string& what) {
  throw Fault{fmt::format("{}: {}", one_line(object), what)};
}

/// Seconds of one unit of time, as the number to divide by: dividing is exact where multiplying by 1e-3 is not.
double per_second(const std::string& unit, const std::string& object) {
  if (unit == "s") return 1;
  if (unit == "ms") return 1e3;
  if (unit == "us") return 1e6;
  if (unit == "ns") return 1e9;
  fault(object, fmt::format("attribute 'units': unit '{}' is not one of s, ms, us, ns: write the times in one of these",
                            one_line(unit)));
}

std::string describe(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

class CellReader {
 public:
  CellReader(RecordSource& source, const Node& node, const std::string& id) : source_(source), node_(node) {
    cell_.id = id;
  }

  CellRecord read(CellParts parts) {
    attempt([&] { open(); });
    attempt([&] { read_attributes(); });
    attempt([&] { read_axes(); });
    attempt([&] { read_latency(); });
    if (parts.started) {
      attempt([&] { read_started(); });
      for (const auto& quantity : kDeviceQuantities)
        attempt([&] { cell_.device.*quantity.values = per_block_and_rank(quantity.name); });
    }
    if (parts.errors) {
      attempt([&] { cell_.error_frobenius = per_arm("error_frobenius"); });
      attempt([&] { cell_.error_max = per_arm("error_max"); });
      attempt([&] { cell_.error_bound = per_arm("error_bound"); });
    }
    return std::move(cell_);
  }

 private:
  /// The first fault is told; what can be read nevertheless is kept.
  template <class Part>
  void attempt(const Part& part) {
    try {
      part();
    } catch (const Fault& found) {
      if (cell_.fault.empty()) cell_.fault = found.text;
    } catch (const Damaged& damage) {
      if (cell_.fault.empty()) cell_.fault = damage.what();
    }
  }

  void open() {
    group_ = source_.load(node_);
    if (group_.data) fault(node_.path, "is a dataset, and should be the group of a cell");
  }

  const std::map<std::string, Value>& attributes() const { return group_.attributes; }

  /// Takes the attribute out, so that what is left in the end is extra.
  Attribute take(const char* name, const char* kind) {
    const auto found = group_.attributes.find(name);
    if (found == group_.attributes.end())
      fault(node_.path, fmt::format("attribute '{}' is missing: write the file again with megaup", name));
    auto value = scalar(found->second);
    group_.attributes.erase(found);
    if (!value) fault(node_.path, fmt::format("attribute '{}' is not {}", name, kind));
    return std::move(*value);
  }

  void text(const char* name, std::string& into) {
    auto value = take(name, "one text");
    if (!std::holds_alternative<std::string>(value))
      fault(node_.path, fmt::format("attribute '{}' is not one text", name));
    into = std::get<std::string>(std::move(value));
  }

  void integer(const char* name, std::int64_t& into) {
    const auto value = take(name, "one whole number");
    if (!std::holds_alternative<std::int64_t>(value))
      fault(node_.path, fmt::format("attribute '{}' is not one whole number", name));
    into = std::get<std::int64_t>(value);
  }

  void read_attributes() {
    const std::pair<const char*, std::string&> texts[] = {{"model", cell_.model},
                                                          {"status", cell_.status},
                                                          {"dtype", cell_.dtype},
                                                          {"format", cell_.format},
                                                          {"sequence_order", cell_.sequence_order},
                                                          {"qkv_weight", cell_.qkv_weight}};
    const std::pair<const char*, std::int64_t&> integers[] = {{"hidden", cell_.hidden},
                                                              {"query_heads", cell_.query_heads},
                                                              {"kv_heads", cell_.kv_heads},
                                                              {"head_dim", cell_.head_dim},
                                                              {"cp", cell_.cp},
                                                              {"batch", cell_.batch},
                                                              {"tokens_per_rank", cell_.tokens_per_rank}};
    for (const auto& field : texts) attempt([&] { text(field.first, field.second); });
    for (const auto& field : integers) attempt([&] { integer(field.first, field.second); });
    if (attributes().contains("reason")) attempt([&] { text("reason", cell_.reason); });
    for (auto& [name, value] : group_.attributes)
      if (auto extra = scalar(std::move(value)))
        cell_.extra.emplace_hint(cell_.extra.end(), as_utf8(name), std::move(*extra));
  }

  std::optional<Node> member(std::string_view name) const {
    const auto found = std::find_if(group_.children.begin(), group_.children.end(),
                                    [&](const Child& child) { return child.name == name; });
    if (found == group_.children.end()) return {};
    return RecordSource::child(node_, *found);
  }

  /// The dataset `name`, which must hold elements of this kind on that many axes; nothing if the cell has none of that name.
  std::optional<Object> dataset(const char* name, Value::Kind kind, const char* kind_name, std::size_t axes) {
    const auto node = member(name);
    if (!node) return {};
    auto object = source_.load(*node);
    if (!object.data) fault(node->path, "is a group, and should be a dataset");
    const auto& value = *object.data;
    if (value.null) fault(node->path, fmt::format("has a null dataspace, and should have {} axes", axes));
    if (value.shape.empty() && axes > 0) fault(node->path, fmt::format("is a scalar, and should have {} axes", axes));
    if (value.shape.size() != axes)
      fault(node->path, fmt::format("has shape {}, and should have {} axes", describe(value.shape), axes));
    if (std::find(value.shape.begin(), value.shape.end(), 0) != value.shape.end())
      fault(node->path, fmt::format("is empty: its shape is {}", describe(value.shape)));
    if (value.kind != kind) fault(node->path, fmt::format("does not hold {}", kind_name));
    if (value.unwritten) fault(node->path, "was never written: what it holds is fill values");
    return object;
  }

  void names(const char* axis, std::vector<std::string>& into) {
    auto object = dataset(axis, Value::Kind::text, "texts", 1);
    if (!object) return;
    for (const auto& name : object->data->texts) into.push_back(as_utf8(name));
  }

  void read_axes() {
    attempt([&] { names("operation", cell_.operations); });
    attempt([&] { names("arm", cell_.arms); });
    if (auto order = dataset("order", Value::Kind::integer, "whole numbers", 1))
      for (const auto value : order->data->integers) {
        if (value != 0 && value != 1)
          fault(node_.path + "/order",
                fmt::format("has the value {}, and should have 0 (initial) or 1 (reversed)", value));
        cell_.order.push_back(static_cast<std::uint8_t>(value));
      }
  }

  void check_axis(const std::string& object, const std::vector<std::int64_t>& shape, std::size_t axis, const char* name,
                  std::size_t length) {
    if (static_cast<std::size_t>(shape[axis]) != length)
      fault(object,
            fmt::format("has shape {}, but its axis {} '{}' has {} entries", describe(shape), axis, name, length));
  }

  void check_axes(const std::string& object, const std::vector<std::int64_t>& shape) {
    check_axis(object, shape, 0, "operation", cell_.operations.size());
    check_axis(object, shape, 1, "arm", cell_.arms.size());
    if (shape.size() > 2) check_axis(object, shape, 2, "order", cell_.order.size());
  }

  /// Numbers of a dataset, in seconds.
  static std::vector<double> seconds(Object&& object, const std::string& path) {
    const auto unit = object.attributes.find("units");
    if (unit == object.attributes.end()) fault(path, "attribute 'units': unit missing: write 's', 'ms', 'us' or 'ns'");
    const auto text = scalar(unit->second);
    if (!text || !std::holds_alternative<std::string>(*text))
      fault(path, "attribute 'units' is not one text: write 's', 'ms', 'us' or 'ns'");
    const double divisor = per_second(std::get<std::string>(*text), path);
    auto numbers = std::move(object.data->reals);
    if (divisor != 1)
      for (auto& number : numbers) number /= divisor;
    return numbers;
  }

  void read_latency() {
    const auto path = node_.path + "/latency";
    auto object = dataset("latency", Value::Kind::real, "32- or 64-bit floating-point numbers", 5);
    if (!object) {
      if (cell_.status == "measured") fault(path, "is missing, though the status is 'measured'");
      return read_lengths();
    }
    const auto shape = object->data->shape;
    check_axes(path, shape);
    cell_.observations = shape[3];
    cell_.ranks = shape[4];
    cell_.latency = seconds(std::move(*object), path);
  }

  /// Of a cell without times, the lengths of two axes are known from their scales only.
  void read_lengths() {
    if (auto scale = dataset("observation", Value::Kind::integer, "whole numbers", 1))
      cell_.observations = scale->data->shape[0];
    if (auto scale = dataset("rank", Value::Kind::integer, "whole numbers", 1)) cell_.ranks = scale->data->shape[0];
  }

  void read_started() {
    const auto path = node_.path + "/started";
    auto object = dataset("started", Value::Kind::real, "floating-point numbers", 3);
    if (!object) return;
    check_axes(path, object->data->shape);
    cell_.started = seconds(std::move(*object), path);
  }

  std::vector<double> per_block_and_rank(const char* name) {
    auto object = dataset(name, Value::Kind::real, "floating-point numbers", 4);
    if (!object) return {};
    const auto path = fmt::format("{}/{}", node_.path, name);
    check_axes(path, object->data->shape);
    check_axis(path, object->data->shape, 3, "rank", static_cast<std::size_t>(cell_.ranks));
    return std::move(object->data->reals);
  }

  std::vector<double> per_arm(const char* name) {
    auto object = dataset(name, Value::Kind::real, "floating-point numbers", 2);
    if (!object) return {};
    check_axes(fmt::format("{}/{}", node_.path, name), object->data->shape);
    return std::move(object->data->reals);
  }

  RecordSource& source_;
  const Node& node_;
  Object group_;
  CellRecord cell_;
};

}  // namespace

std::optional<Attribute> scalar(Value&& value) {
  if (value.texts.size() == 1 && is_utf8(value.texts[0])) return std::move(value.texts[0]);
  return scalar(std::as_const(value));
}

std::optional<Attribute> scalar(const Value& value) {
  if (value.texts.size() == 1) return as_utf8(value.texts[0]);
  if (value.integers.size() == 1) return value.integers[0];
  if (value.reals.size() == 1) return value.reals[0];
  return {};
}

CellRecord read_cell(RecordSource& source, const Node& node, const std::string& id, CellParts parts) {
  return CellReader(source, node, id).read(parts);
}

}  // namespace megaup::core::detail
