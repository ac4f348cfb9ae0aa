#include <megaup/experiments/catalogue.hpp>

#include <array>
#include <utility>

#include <fmt/format.h>

#include <megaup/core/error.hpp>
#include <megaup/experiments/embedded.hpp>

namespace megaup::experiments {
namespace {

constexpr std::int64_t kMaxSize = 1'000'000'000;

struct Size {
  std::string_view key;
  std::int64_t Model::*member;
};
constexpr std::array<Size, 4> kSizes{{{"hidden", &Model::hidden},
                                      {"query_heads", &Model::query_heads},
                                      {"kv_heads", &Model::kv_heads},
                                      {"head_dim", &Model::head_dim}}};

/// {value: ..., source: text, verified: false}: where a number comes from stands beside it.
class SourcedValue {
 public:
  SourcedValue(const YamlNode& node, std::string_view key, Diagnostics& diagnostics)
      : reader_(node, std::string(key), diagnostics), diagnostics_(diagnostics) {}

  const YamlNode* value() { return reader_.require("value"); }
  void finish() {
    if (const YamlNode* source = reader_.require("source"))
      if (source->kind != YamlNode::Kind::scalar || source->text.empty())
        diagnostics_.add(source->where,
                         fmt::format("'source' must say where the value comes from, not {}", described(*source)));
    bool verified = true;
    reader_.boolean("verified", verified);
    reader_.finish();
  }

 private:
  MapReader reader_;
  Diagnostics& diagnostics_;
};

void read_sourced_integer(const YamlNode& node, std::string_view key, std::int64_t& target, Diagnostics& diagnostics) {
  SourcedValue sourced(node, key, diagnostics);
  if (const YamlNode* value = sourced.value())
    target = read_integer(*value, key, 1, kMaxSize, diagnostics).value_or(target);
  sourced.finish();
}

/// What describes a model but does not change the four operations; read so that it stays well formed.
void read_description(MapReader& top, Diagnostics& diagnostics) {
  std::int64_t layers = 0;
  if (const YamlNode* node = top.find("attention_layers"))
    read_sourced_integer(*node, "attention_layers", layers, diagnostics);
  if (const YamlNode* node = top.find("qkv_bias")) {
    SourcedValue sourced(*node, "qkv_bias", diagnostics);
    if (const YamlNode* value = sourced.value()) read_boolean(*value, "qkv_bias", diagnostics);
    sourced.finish();
  }
  if (const YamlNode* notes = top.find("notes"); notes != nullptr && notes->kind != YamlNode::Kind::scalar)
    diagnostics.add(notes->where, fmt::format("'notes' must be text, not {}", described(*notes)));
}

}  // namespace

Model parse_catalogue_model(std::string_view yaml, const std::string& file) {
  Diagnostics diagnostics(file, yaml);
  Model model;
  if (const YamlNodePtr root = read_yaml(yaml, diagnostics)) {
    MapReader top(*root, "model", diagnostics);
    if (const YamlNode* node = top.require("name")) model.name = read_name(*node, "name", diagnostics).value_or("");
    for (const auto& [key, member] : kSizes)
      if (const YamlNode* node = top.require(key)) read_sourced_integer(*node, key, model.*member, diagnostics);
    read_description(top, diagnostics);
    top.finish();
  }
  diagnostics.throw_if_any();
  return model;
}

Models catalogue() {
  Models models;
  for (const auto& file : embedded_models()) {
    Model model = parse_catalogue_model(file.bytes, fmt::format("experiments/models/{}", file.name));
    if (fmt::format("{}.yaml", model.name) != file.name)
      throw core::Error(core::ErrorKind::usage,
                        fmt::format("experiments/models/{} holds a model named {}", file.name, in_quotes(model.name)));
    models.emplace(model.name, model);
  }
  return models;
}

Model read_inline_model(const YamlNode& node, std::string name, Diagnostics& diagnostics) {
  MapReader reader(node, fmt::format("models.{}", name), diagnostics);
  Model model{.name = std::move(name)};
  for (const auto& [key, member] : kSizes)
    if (const YamlNode* value = reader.require(key))
      model.*member = read_integer(*value, key, 1, kMaxSize, diagnostics).value_or(0);

  std::int64_t value_head_dim = model.head_dim;
  reader.integer("value_head_dim", value_head_dim, 1, kMaxSize);
  if (value_head_dim != model.head_dim && model.head_dim != 0)
    diagnostics.add(
        reader.where("value_head_dim"),
        fmt::format("value_head_dim {} differs from head_dim {}: attention with two widths (MLA) has no single packed "
                    "QKV operation and does not fit",
                    value_head_dim, model.head_dim));

  const std::int64_t heads = model.query_heads + 2 * model.kv_heads;
  const std::int64_t width = heads * model.head_dim;
  std::int64_t qkv_width = width;
  reader.integer("qkv_width", qkv_width, 1, kMaxSize);
  if (qkv_width != width && width != 0) {
    const std::string mend = qkv_width % heads == 0 ? fmt::format("with it head_dim is {}", qkv_width / heads)
                                                    : fmt::format("it is not even a multiple of {} heads", heads);
    diagnostics.add(reader.where("qkv_width"),
                    fmt::format("qkv_width {} is not (query_heads {} + 2 * kv_heads {}) * head_dim {} = {}: {}",
                                qkv_width, model.query_heads, model.kv_heads, model.head_dim, width, mend));
  }
  reader.finish();
  return model;
}

}  // namespace megaup::experiments
