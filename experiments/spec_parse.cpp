#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/experiments/backend_reader.hpp>
#include <megaup/experiments/cell_reader.hpp>
#include <megaup/experiments/spec.hpp>

namespace megaup::experiments {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000;
constexpr std::int64_t kMaxPairs = 1000;

/// Reads the parts of a spec into one Spec.
class SpecReader {
 public:
  SpecReader(Spec& spec, const KnownNames& known, Diagnostics& diagnostics)
      : spec_(spec), known_(known), diagnostics_(diagnostics), models_(catalogue()) {}

  void read(const YamlNode& root) {
    MapReader top(root, "spec", diagnostics_);
    std::int64_t version = 1;
    if (top.require("spec_version") != nullptr) top.integer("spec_version", version, 1, 1);
    if (const YamlNode* node = top.require("name")) spec_.name = read_name(*node, "name", diagnostics_).value_or("");
    if (const YamlNode* node = top.find("models")) inline_models(*node);
    cells(top);
    operations(top.find("operations"));
    if (const YamlNode* node = top.find("backend")) spec_.backend = read_backend(*node, known_, diagnostics_);
    arms(top.find("arms"));
    if (const YamlNode* node = top.find("measure")) measure(*node);
    if (const YamlNode* node = top.find("validate")) validate(*node);
    top.finish();
  }

 private:
  void inline_models(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::map)
      diagnostics_.add(node.where, fmt::format("'models' must be a map of names and sizes, not {}", described(node)));
    for (const YamlEntry& entry : node.entries) {
      YamlNode key;
      key.kind = YamlNode::Kind::scalar;
      key.text = entry.key;
      key.where = entry.where;
      const auto model_name = read_name(key, "name of a model", diagnostics_);
      if (!model_name) continue;
      if (models_.contains(*model_name))
        diagnostics_.add(entry.where, fmt::format("model {} is in the catalogue already: choose another name",
                                                  in_quotes(*model_name)));
      const Model model = read_inline_model(*entry.value, *model_name, diagnostics_);
      models_.emplace(*model_name, model);
      spec_.models.emplace(*model_name, model);
    }
  }

  void cells(MapReader& top) {
    CellReader reader(spec_, models_, diagnostics_);
    if (const YamlNode* node = top.find("workload")) reader.workload(*node);
    const YamlNode* matrix = top.find("matrix");
    const YamlNode* include = top.find("include");
    if (matrix != nullptr) reader.matrix(*matrix);
    if (include != nullptr) reader.include(*include);
    if (const YamlNode* node = top.find("exclude")) reader.exclude(*node);
    if (top.readable() && matrix == nullptr && (include == nullptr || (spec_.include.empty() && diagnostics_.empty())))
      diagnostics_.add({}, "this spec has no cells: give 'matrix' or 'include'");
    reader.fill_defaults();
  }

  /// A list of known names without repetition.
  std::vector<std::string> names(const YamlNode& node, std::string_view key, std::span<const std::string_view> known) {
    std::vector<std::string> out;
    if (node.kind != YamlNode::Kind::list || node.items.empty())
      diagnostics_.add(node.where, fmt::format("'{}' must be a list of at least one name, not {}", key,
                                               node.kind == YamlNode::Kind::list ? "an empty list" : described(node)));
    for (const auto& item : node.items) {
      const auto found = read_known(*item, key, known);
      if (!found) continue;
      if (std::ranges::find(out, *found) != out.end())
        diagnostics_.add(item->where, fmt::format("'{}' has {} twice", key, in_quotes(*found)));
      else
        out.push_back(*found);
    }
    return out;
  }

  std::optional<std::string> read_known(const YamlNode& node, std::string_view key,
                                        std::span<const std::string_view> known) {
    for (const auto& [place, elsewhere] : {std::pair("host", known_.arms), std::pair("cuda", known_.cuda_arms)})
      if (std::ranges::find(known, node.text) == known.end() &&
          std::ranges::find(elsewhere, node.text) != elsewhere.end()) {
        diagnostics_.add(node.where,
                         fmt::format("'{}' {} exists with 'device: {}' only; 'device: {}' has {}", key,
                                     in_quotes(node.text), place, name(spec_.backend.device), fmt::join(known, ", ")));
        return {};
      }
    const auto found = read_choice(node, key, known, {}, diagnostics_);
    if (!found) return {};
    return std::string(known[*found]);
  }

  void operations(const YamlNode* node) {
    std::vector<std::string_view> known(known_.operations.begin(), known_.operations.end());
    spec_.operations.assign(known.begin(), known.end());
    if (node == nullptr) return;
    known.push_back(kSequence);
    spec_.operations = names(*node, "operations", known);
    const auto missing = missing_operations();
    if (std::ranges::find(spec_.operations, kSequence) != spec_.operations.end() && !missing.empty())
      diagnostics_.add(node->where,
                       fmt::format("'sequence' is all operations back to back, to be held against their sum: "
                                   "it also needs {} by itself",
                                   fmt::join(missing, ", ")));
  }

  std::vector<std::string_view> missing_operations() const {
    std::vector<std::string_view> missing;
    for (const auto operation : known_.operations)
      if (std::ranges::find(spec_.operations, operation) == spec_.operations.end()) missing.push_back(operation);
    return missing;
  }

  void arms(const YamlNode* node) {
    bool bounds = true;
    spec_.arms.baselines = {"native_packed"};
    spec_.arms.candidate = "fused";
    if (node != nullptr) {
      MapReader reader(*node, "arms", diagnostics_);
      if (const YamlNode* baseline = reader.find("baseline"))
        spec_.arms.baselines = names(*baseline, "baseline", known_arms());
      const YamlNode* candidate = reader.find("candidate");
      if (candidate != nullptr) spec_.arms.candidate = read_known(*candidate, "candidate", known_arms()).value_or("");
      reader.boolean("bounds", bounds);
      reader.boolean("control", spec_.arms.control);
      reader.finish();
      if (std::ranges::find(spec_.arms.baselines, spec_.arms.candidate) != spec_.arms.baselines.end())
        diagnostics_.add(
            candidate != nullptr ? candidate->where : node->where,
            fmt::format("'candidate' {} is a baseline too: an arm is not compared with itself in this version",
                        in_quotes(spec_.arms.candidate)));
    }
    const auto known_bounds = on_device() ? known_.cuda_bounds : known_.bounds;
    if (bounds) spec_.arms.bounds.assign(known_bounds.begin(), known_bounds.end());
  }

  bool on_device() const { return spec_.backend.device == DeviceKind::cuda; }
  /// Without any, which is told by itself, names cannot be checked.
  std::span<const std::string_view> known_arms() const {
    return on_device() && !known_.cuda_arms.empty() ? known_.cuda_arms : known_.arms;
  }

  void measure(const YamlNode& node) {
    MapReader reader(node, "measure", diagnostics_);
    Measure& m = spec_.measure;
    reader.integer("warmup", m.warmup, 0, kMaxCount);
    reader.integer("observations", m.observations, 1, kMaxCount);
    reader.integer("pairs", m.pairs, 1, kMaxPairs);
    reader.boolean("burn_in", m.burn_in);
    reader.choice("cadence", m.cadence, {"barrier", "back_to_back"});
    reader.choice("duty", m.duty, {"sustained", "spaced"});
    if (m.duty == ops::Regime::spaced && !on_device())
      diagnostics_.add(reader.where("duty"),
                       "'duty: spaced' is a power regime of GPUs: it needs 'device: cuda' in 'backend'");
    reader.choice("cache", m.cache, {"warm", "cold"});
    reader.duration("cell_timeout", m.cell_timeout_s);
    reader.choice("schedule", m.schedule, {"blocked", "interleaved"});
    if (m.schedule == Schedule::interleaved && m.cadence == Cadence::back_to_back)
      diagnostics_.add(
          reader.where("schedule"),
          "'schedule: interleaved' cannot stand beside 'cadence: back_to_back': the arms share their operands, "
          "so ranks must meet between an observation of one arm and one of the next");
    if (const YamlNode* rule = reader.find("stop")) stop(*rule, reader);
    reader.finish();
  }

  void stop(const YamlNode& node, MapReader& measure) {
    MapReader reader(node, "stop", diagnostics_);
    Stop stop;
    if (reader.require("half_width") != nullptr) reader.duration("half_width", stop.half_width_s);
    reader.integer("max_pairs", stop.max_pairs, 2, kMaxPairs);
    reader.finish();
    spec_.measure.stop = stop;
    if (measure.find("pairs") != nullptr)
      diagnostics_.add(measure.where("pairs"),
                       "'pairs' cannot stand beside 'stop': the number of pairs is then decided while measuring, at "
                       "most 'max_pairs'");
    if (const auto missing = missing_operations(); !missing.empty())
      diagnostics_.add(measure.where("stop"),
                       fmt::format("'stop' looks at Delta, which needs all operations: {} not measured",
                                   missing.size() == 1 ? fmt::format("{} is", missing[0])
                                                       : fmt::format("{} are", fmt::join(missing, ", "))));
  }

  void validate(const YamlNode& node) {
    MapReader reader(node, "validate", diagnostics_);
    reader.choice("mode", spec_.validate.mode, {"before", "every"});
    if (spec_.validate.mode == ValidateMode::every && spec_.backend.solo)
      diagnostics_.add(reader.where("mode"),
                       "'mode: every' cannot stand beside 'solo: true': without its peers' data an output is "
                       "right in the check before only");
    std::int64_t seed = 1;
    reader.integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max());
    spec_.validate.seed = static_cast<std::uint64_t>(seed);
    reader.finish();
  }

  Spec& spec_;
  const KnownNames& known_;
  Diagnostics& diagnostics_;
  Models models_;
};

}  // namespace

Spec parse_spec(std::string_view yaml, const std::string& file, const KnownNames& known) {
  Diagnostics diagnostics(file, yaml);
  Spec spec;
  spec.file = file;
  spec.yaml = yaml;
  if (const YamlNodePtr root = read_yaml(yaml, diagnostics)) SpecReader(spec, known, diagnostics).read(*root);
  diagnostics.throw_if_any();
  return spec;
}

}  // namespace megaup::experiments
