#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <megaup/experiments/machine_file.hpp>
#include <megaup/experiments/map_reader.hpp>
#include <megaup/experiments/quantity.hpp>

namespace megaup::experiments {
namespace {

using simulation::Machine;

constexpr std::int64_t kMaxSize = 1'000'000'000'000;

/// Reads one machine and keeps where each member is written, so that what is wrong with its values is shown there too.
class MachineReader {
 public:
  MachineReader(Machine& machine, Diagnostics& diagnostics) : machine_(machine), diagnostics_(diagnostics) {}

  void read(const YamlNode& root) {
    MapReader top(root, "machine", diagnostics_);
    std::int64_t version = 1;
    if (top.require("machine_version") != nullptr) top.integer("machine_version", version, 1, 1);
    words(top);
    count(top);
    tile(top);
    rates(top);
    if (const YamlNode* node = top.find("reorder")) reorder(*node);
    contention(top, "push", machine_.push);
    contention(top, "pull", machine_.pull);
    each(top, "gemm", [&](const YamlNode& node, const std::string& at) { gemm(node, at); });
    each(top, "exchange", [&](const YamlNode& node, const std::string& at) { exchange(node, at); });
    each(top, "cells", [&](const YamlNode& node, const std::string& at) { cell(node, at); });
    top.finish();
  }

  /// Where a member is written, or the part of it that is: "exchange[1].points[3]", "exchange[1]", "exchange".
  TextPosition place(std::string member) const {
    while (true) {
      if (const auto found = places_.find(member); found != places_.end()) return found->second;
      const std::size_t end = member.find_last_of(".[");
      if (end == std::string::npos) return {};
      member.resize(end);
    }
  }

 private:
  void add(const YamlNode& node, const std::string& what) { diagnostics_.add(node.where, what); }

  void words(MapReader& top) {
    text(top, "name", "", machine_.name, true);
    text(top, "description", "", machine_.description, true);
    text(top, "fabric", "", machine_.fabric, true);
    text(top, "duty", "", machine_.duty, false);
    text(top, "schedule", "", machine_.schedule, false);
    text(top, "default_transport", "", machine_.default_transport, false);
  }

  void text(MapReader& reader, std::string_view key, const std::string& at, std::string& target, bool needed) {
    const YamlNode* node = needed ? reader.require(key) : reader.find(key);
    if (node == nullptr) return;
    places_[at + std::string(key)] = node->where;
    if (node->kind != YamlNode::Kind::scalar || node->text.empty())
      return add(*node, fmt::format("'{}' must be text, not {}", key, described(*node)));
    target = node->text;
  }

  void provenance(MapReader& reader, const std::string& at, std::string& source, std::string& date) {
    text(reader, "source", at, source, true);
    text(reader, "date", at, date, true);
  }

  /// Hands an unquoted scalar to `parse`.
  template <class T, class Parse>
  bool plain(const YamlNode& node, std::string_view key, std::string_view expected, T& target, Parse parse) {
    std::string why(expected);
    if (node.kind == YamlNode::Kind::scalar && !node.quoted) {
      Parsed<T> parsed = parse(node.text);
      if (const T* value = std::get_if<0>(&parsed)) return target = *value, true;
      why = std::get<1>(parsed);
    }
    add(node, fmt::format("'{}' must be {}, not {}", key, why, described(node)));
    return false;
  }

  bool quantity(const YamlNode& node, std::string_view key, double& target, Dimension dimension) {
    return plain(node, key, "a number, a space and a unit, without quotes", target,
                 [&](std::string_view words) { return parse_quantity(words, dimension); });
  }

  /// {value: ..., source: ..., date: ...}; `read` takes the value.
  template <class Read>
  void sourced(const YamlNode& node, std::string_view key, const std::string& at, std::string& source,
               std::string& date, Read read) {
    places_[at] = node.where;
    MapReader reader(node, std::string(key), diagnostics_);
    if (const YamlNode* value = reader.require("value")) {
      places_[at + ".value"] = value->where;
      read(*value);
    }
    provenance(reader, at + ".", source, date);
    reader.finish();
  }

  simulation::Figure figure(const YamlNode& node, std::string_view key, const std::string& at, Dimension dimension) {
    simulation::Figure out;
    sourced(node, key, at, out.source, out.date,
            [&](const YamlNode& value) { quantity(value, key, out.value, dimension); });
    return out;
  }

  void rates(MapReader& top) {
    struct Key {
      std::string_view key;
      std::optional<simulation::Figure> Machine::*member;
      Dimension dimension;
    };
    constexpr std::array<Key, 7> kKeys{{{"peak_rate", &Machine::peak_rate, Dimension::flop_rate},
                                        {"peak_link_rate", &Machine::peak_link_rate, Dimension::byte_rate},
                                        {"gemm_rate", &Machine::gemm_rate, Dimension::flop_rate},
                                        {"link_rate", &Machine::link_rate, Dimension::byte_rate},
                                        {"launch", &Machine::launch, Dimension::time},
                                        {"gap", &Machine::gap, Dimension::time},
                                        {"barrier", &Machine::barrier, Dimension::time}}};
    for (const auto& [key, member, dimension] : kKeys)
      if (const YamlNode* node = top.find(key)) machine_.*member = figure(*node, key, std::string(key), dimension);
  }

  void count(MapReader& top) {
    const YamlNode* node = top.find("multiprocessors");
    if (node == nullptr) return;
    auto& target = machine_.multiprocessors.emplace();
    sourced(*node, "multiprocessors", "multiprocessors", target.source, target.date, [&](const YamlNode& value) {
      target.value = read_integer(value, "value", 1, kMaxSize, diagnostics_).value_or(1);
    });
  }

  void tile(MapReader& top) {
    const YamlNode* node = top.find("tile");
    if (node == nullptr) return;
    places_["tile"] = node->where;
    auto& target = machine_.tile.emplace();
    MapReader reader(*node, "tile", diagnostics_);
    reader.require("m"), reader.integer("m", target.m, 1, kMaxSize);
    reader.require("n"), reader.integer("n", target.n, 1, kMaxSize);
    provenance(reader, "tile.", target.source, target.date);
    reader.finish();
  }

  void reorder(const YamlNode& node) {
    places_["reorder"] = node.where;
    auto& target = machine_.reorder.emplace();
    MapReader reader(node, "reorder", diagnostics_);
    if (const YamlNode* rate = reader.require("rate"))
      target.rate = figure(*rate, "rate", "reorder.rate", Dimension::byte_rate);
    if (const YamlNode* launch = reader.require("launch"))
      target.launch = figure(*launch, "launch", "reorder.launch", Dimension::time);
    reader.finish();
  }

  void contention(MapReader& top, std::string_view key, std::optional<simulation::Contention>& target) {
    const YamlNode* node = top.find(key);
    if (node == nullptr) return;
    places_[std::string(key)] = node->where;
    target.emplace();
    MapReader reader(*node, std::string(key), diagnostics_);
    const auto factor = [&](std::string_view name, simulation::Figure& out) {
      if (const YamlNode* value = reader.require(name))
        sourced(*value, name, fmt::format("{}.{}", key, name), out.source, out.date, [&](const YamlNode& number) {
          plain(number, name, "a number, without quotes", out.value, parse_real);
        });
    };
    factor("compute", target->compute);
    factor("link", target->link);
    reader.finish();
  }

  /// Hands the items of a list, each with its path, to `read`.
  template <class Read>
  void each(MapReader& reader, std::string_view key, Read read) {
    if (const YamlNode* node = reader.find(key)) each(*node, key, std::string(key), read);
  }
  template <class Read>
  void each(const YamlNode& list, std::string_view key, const std::string& at, Read read) {
    places_[at] = list.where;
    if (list.kind != YamlNode::Kind::list)
      return add(list, fmt::format("'{}' must be a list, not {}", key, described(list)));
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const std::string item = fmt::format("{}[{}]", at, i);
      places_[item] = list.items[i]->where;
      read(*list.items[i], item);
    }
  }

  /// A point is a list of so many values; false after an error.
  bool is_point(const YamlNode& node, std::size_t values, std::string_view form) {
    if (node.kind == YamlNode::Kind::list && node.items.size() == values) return true;
    add(node, fmt::format("a point must be {}, not {}", form,
                          node.kind == YamlNode::Kind::list ? fmt::format("a list of {} values", node.items.size())
                                                            : described(node)));
    return false;
  }

  void gemm(const YamlNode& node, const std::string& at) {
    auto& table = machine_.gemm.emplace_back();
    MapReader reader(node, at, diagnostics_);
    provenance(reader, at + ".", table.source, table.date);
    if (const YamlNode* points = reader.require("points"))
      each(*points, "points", at + ".points",
           [&](const YamlNode& point, const std::string&) { gemm_point(point, table); });
    reader.finish();
  }

  void gemm_point(const YamlNode& node, simulation::GemmTable& table) {
    if (!is_point(node, 5, "[m, n, k, TN or NN or any, time]")) return;
    auto& point = table.points.emplace_back();
    std::int64_t* sizes[] = {&point.m, &point.n, &point.k};
    constexpr std::string_view kNames[] = {"m", "n", "k"};
    for (std::size_t i = 0; i < 3; ++i)
      *sizes[i] = read_integer(*node.items[i], kNames[i], 1, kMaxSize, diagnostics_).value_or(1);
    constexpr std::array<std::string_view, 3> kForms{"NN", "TN", "any"};
    if (const auto form = read_choice(*node.items[3], "form", kForms, {}, diagnostics_); form && *form < 2)
      point.weight_transposed = *form == 1;
    quantity(*node.items[4], "time", point.seconds, Dimension::time);
  }

  void exchange(const YamlNode& node, const std::string& at) {
    auto& curve = machine_.exchange.emplace_back();
    MapReader reader(node, at, diagnostics_);
    text(reader, "transport", at + ".", curve.transport, true);
    if (const YamlNode* ranks = reader.require("ranks"))
      curve.ranks = read_integer(*ranks, "ranks", 1, kMaxSize, diagnostics_).value_or(1);
    provenance(reader, at + ".", curve.source, curve.date);
    if (const YamlNode* points = reader.require("points"))
      each(*points, "points", at + ".points", [&](const YamlNode& point, const std::string&) {
        if (!is_point(point, 2, "[bytes, time]")) return;
        auto& target = curve.points.emplace_back();
        quantity(*point.items[0], "bytes", target.bytes, Dimension::bytes);
        quantity(*point.items[1], "time", target.seconds, Dimension::time);
      });
    reader.finish();
  }

  void cell(const YamlNode& node, const std::string& at) {
    auto& target = machine_.cells.emplace_back();
    MapReader reader(node, at, diagnostics_);
    text(reader, "file", at + ".", target.file, true);
    text(reader, "cell", at + ".", target.cell, true);
    text(reader, "model", at + ".", target.model, true);
    problem(reader, target.problem);
    if (const YamlNode* arms = reader.require("arms"))
      each(*arms, "arms", at + ".arms", [&](const YamlNode& arm, const std::string&) {
        if (auto name = read_name(arm, "arms", diagnostics_)) target.arms.push_back(std::move(*name));
      });
    if (const YamlNode* errors = reader.find("held_out")) held_out(*errors, at + ".held_out", target);
    reader.finish();
  }

  void held_out(const YamlNode& node, const std::string& at, simulation::CalibratedCell& target) {
    places_[at] = node.where;
    if (node.kind != YamlNode::Kind::map)
      return add(node, fmt::format("'held_out' must be a map of baseline arms and errors, not {}", described(node)));
    for (const YamlEntry& entry : node.entries) {
      places_[fmt::format("{}.{}", at, entry.key)] = entry.value->where;
      plain(*entry.value, entry.key, "a number, without quotes", target.held_out[entry.key], parse_real);
    }
  }

  void problem(MapReader& reader, core::Problem& p) {
    std::int64_t tokens = 1;
    const std::pair<std::string_view, std::int64_t*> sizes[] = {
        {"cp", &p.P},        {"batch", &p.B},   {"tokens_per_rank", &tokens}, {"hidden", &p.H}, {"query_heads", &p.Hq},
        {"kv_heads", &p.Hk}, {"head_dim", &p.D}};
    for (const auto& [key, target] : sizes)
      if (const YamlNode* node = reader.require(key))
        *target = read_integer(*node, key, 1, kMaxSize, diagnostics_).value_or(1);
    if (tokens % p.B != 0)
      diagnostics_.add(reader.where("tokens_per_rank"),
                       fmt::format("tokens_per_rank {} is not a multiple of batch {}", tokens, p.B));
    p.s = tokens / p.B;
    reader.choice("format", p.format, {"sbhd", "bshd", "thd"});
    reader.choice("sequence_order", p.order, {"contiguous", "dual_chunk"});
    reader.choice("qkv_weight", p.qkv_weight, {"grouped", "concatenated"});
    reader.boolean("kv_replication", p.kv_replication);
  }

  Machine& machine_;
  Diagnostics& diagnostics_;
  std::map<std::string, TextPosition> places_;
};

}  // namespace

Machine parse_machine(std::string_view yaml, const std::string& file) {
  Diagnostics diagnostics(file, yaml);
  Machine machine;
  if (const YamlNodePtr root = read_yaml(yaml, diagnostics)) {
    MachineReader reader(machine, diagnostics);
    reader.read(*root);
    if (diagnostics.empty())  // else it would be blamed for what could not be read
      for (const auto& [member, what] : simulation::violations(machine))
        diagnostics.add(reader.place(member), fmt::format("{}: {}", member, what));
  }
  diagnostics.throw_if_any();
  return machine;
}

}  // namespace megaup::experiments
