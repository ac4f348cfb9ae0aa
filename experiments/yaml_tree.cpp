#include <megaup/experiments/yaml_tree.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace megaup::experiments {
namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::int64_t kMaxValues = 1'000'000;

/// Stops the parser: what it would say next has no meaning.
struct Stop : std::runtime_error {
  Stop(TextPosition place, const std::string& message) : std::runtime_error(message), where(place) {}
  TextPosition where;
};

TextPosition position(const YAML::Mark& mark) { return {std::max(mark.line, 0), std::max(mark.column, 0)}; }

/// Builds the tree of one document from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  YamlNodePtr root() const { return root_; }
  TextPosition start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = position(mark); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (awaits_key()) throw Stop(position(mark), "a key must be a name, found nothing");
    auto node = make(YamlNode::Kind::null, mark, anchor);
    place(node);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (awaits_key()) throw Stop(position(mark), "a key must be a name, not an alias");
    const auto found = anchors_.find(anchor);
    const bool open =
        std::ranges::any_of(open_, [&](const Open& o) { return found != anchors_.end() && o.node == found->second; });
    if (found == anchors_.end() || open) throw Stop(position(mark), "this alias refers to a value that contains it");
    place(found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag != "?" && tag != "!") refuse_tag(mark);
    if (awaits_key()) {
      open_.back().key = YamlEntry{value, position(mark), nullptr};
      open_.back().merge = tag == "?" && value == "<<";
      return;
    }
    auto node = make(YamlNode::Kind::scalar, mark, anchor);
    node->text = value;
    node->quoted = tag == "!";
    place(node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(YamlNode::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(YamlNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  /// A list or map whose end was not seen yet; for a map, the key whose value comes next.
  struct Open {
    std::shared_ptr<YamlNode> node;
    std::optional<YamlEntry> key;
    bool merge = false;
  };

  bool awaits_key() const {
    return !open_.empty() && open_.back().node->kind == YamlNode::Kind::map && !open_.back().key;
  }

  [[noreturn]] static void refuse_tag(const YAML::Mark& mark) {
    throw Stop(position(mark), "tags (!) have no meaning here: leave it out");
  }

  std::shared_ptr<YamlNode> make(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->where = position(mark);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    return node;
  }

  void begin(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (tag != "?" && tag != "!" && !tag.empty()) refuse_tag(mark);
    if (awaits_key()) throw Stop(position(mark), "a key must be a name, not a list or a map");
    if (open_.size() == kMaxDepth) throw Stop(position(mark), fmt::format("nested deeper than {} levels", kMaxDepth));
    open_.push_back({make(kind, mark, anchor), {}, false});
  }

  void end() {
    const auto node = open_.back().node;
    open_.pop_back();
    place(node);
  }

  /// Gives a finished value to the list or map around it.
  void place(const std::shared_ptr<YamlNode>& value) {
    if (open_.empty()) {
      root_ = value;
      return;
    }
    Open& parent = open_.back();
    if (parent.node->kind == YamlNode::Kind::list) {
      parent.node->items.push_back(value);
    } else {
      YamlEntry entry = *std::exchange(parent.key, {});
      entry.value = value;
      add(*parent.node, std::move(entry), parent.merge);
    }
    parent.node->size += value->size;
    if (parent.node->size > kMaxValues)
      throw Stop(value->where, fmt::format("more than {} values, counting each alias in full", kMaxValues));
  }

  void add(YamlNode& map, YamlEntry entry, bool merge) {
    if (merge) {
      diagnostics_.add(entry.where, "merge keys (<<) are not supported: write the keys out");
      return;
    }
    const auto [first, added] = keys_[&map].try_emplace(entry.key, entry.where.line);
    if (!added) {
      diagnostics_.add(entry.where, fmt::format("duplicate key {} on line {}: already given on line {}",
                                                in_quotes(entry.key), entry.where.line + 1, first->second + 1));
      return;
    }
    map.entries.push_back(std::move(entry));
  }

  Diagnostics& diagnostics_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::shared_ptr<YamlNode>> anchors_;
  std::map<const YamlNode*, std::map<std::string, int>> keys_;  // of each map: line of each key
  std::shared_ptr<YamlNode> root_;
  TextPosition start_;
};

/// Refuses what follows the first document. On text that no document can start with (a lone ',') the parser stays where it is and
/// reports one empty document after the other, so each one must start behind the one before.
void refuse_more_documents(YAML::Parser& parser, TextPosition first, Diagnostics& diagnostics) {
  Diagnostics ignored("", "");
  TextPosition second, last = first;
  int documents = 1;
  for (TreeBuilder next(ignored); parser.HandleNextDocument(next);) {
    if (next.start() <= last)
      throw Stop(next.start(), "not valid YAML: nothing may follow the end of the document here");
    last = next.start();
    if (++documents == 2) second = last;
  }
  if (documents > 1)
    diagnostics.add(second, fmt::format("this file holds {} documents (---): one is allowed", documents));
}

}  // namespace

YamlNodePtr read_yaml(std::string_view text, Diagnostics& diagnostics) {
  if (!check_yaml_text(text, diagnostics)) return nullptr;
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(diagnostics);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder) || !builder.root() || builder.root()->kind == YamlNode::Kind::null) {
      diagnostics.add({}, "this file is empty");
      return nullptr;
    }
    refuse_more_documents(parser, builder.start(), diagnostics);
  } catch (const Stop& stop) {
    diagnostics.add(stop.where, stop.what());
    return nullptr;
  } catch (const YAML::Exception& error) {
    diagnostics.add(position(error.mark), fmt::format("not valid YAML: {}", error.msg));
    return nullptr;
  }
  return builder.root();
}

std::string described(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null: return "nothing";
    case YamlNode::Kind::list: return "a list";
    case YamlNode::Kind::map: return "a map";
    case YamlNode::Kind::scalar: break;
  }
  return node.quoted
             ? fmt::format("the text \"{}\" in quotes", in_quotes(node.text).substr(1, in_quotes(node.text).size() - 2))
             : in_quotes(node.text);
}

}  // namespace megaup::experiments
