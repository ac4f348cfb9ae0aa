#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <megaup/core/record_bytes.hpp>
#include <megaup/core/record_classic_value.hpp>
#include <megaup/core/record_tree.hpp>
#include <megaup/core/text.hpp>

/// Superblock, object headers and groups of the classic file format (HDF5 File Format Specification 3.0: II.A, III.A.1, III.B to III.D,
/// IV.A.1.a). Reads only; every pointer may lie, so that each one is checked, and nothing is followed more often than the file has room for.
namespace megaup::core::detail {
namespace {

// Kinds of messages (IV.A.2).
constexpr std::uint64_t kNil = 0x00;
constexpr std::uint64_t kDataspace = 0x01;
constexpr std::uint64_t kLinkInfo = 0x02;
constexpr std::uint64_t kDatatype = 0x03;
constexpr std::uint64_t kLink = 0x06;
constexpr std::uint64_t kExternalFiles = 0x07;
constexpr std::uint64_t kLayout = 0x08;
constexpr std::uint64_t kFilters = 0x0b;
constexpr std::uint64_t kAttribute = 0x0c;
constexpr std::uint64_t kContinuation = 0x10;
constexpr std::uint64_t kSymbolTable = 0x11;
constexpr std::uint64_t kAttributeInfo = 0x15;

struct Message {
  std::uint64_t kind = kNil;
  std::string_view data;
};

/// All messages of an object header of version 1, over its continuation blocks. The views point into `blocks`.
struct Header {
  std::deque<std::string> blocks;  // never move: the views may point into short strings
  std::vector<Message> messages;
};

void take_messages(Header& header, std::string_view block, std::vector<std::pair<std::uint64_t, std::uint64_t>>& more) {
  constexpr std::size_t kHead = 8;
  constexpr std::uint64_t kShared = 2;
  Cursor in(block);
  while (in.left() >= kHead) {
    const auto kind = in.number(2), bytes = in.number(2), flags = in.number(1);
    in.skip(3);
    const auto data = in.take(bytes);
    if (kind == kContinuation) {
      Cursor pointer(data);
      const auto address = pointer.number(8);
      more.emplace_back(address, pointer.number(8));
    } else if (kind != kNil) {
      if (flags & kShared) throw NotClassic{};
      header.messages.push_back({kind, data});
    }
  }
}

Header read_header(FileBytes& file, std::uint64_t address) {
  const auto head = file.bytes(address, 16);
  if (head.starts_with("OHDR")) throw NotClassic{};
  Cursor in(head);
  if (const auto version = in.number(1); version != 1)
    throw Damaged(fmt::format("no object header at byte {}", address));
  in.skip(7);  // number of messages, references: the blocks say how many there are
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks{{address + 16, in.number(4)}};
  constexpr std::size_t kMostBlocks = 4096;
  Header header;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    total += blocks[i].second;
    if (i == kMostBlocks || total > file.size()) throw Damaged("its object header does not end");
    header.blocks.push_back(file.bytes(blocks[i].first, blocks[i].second));
    take_messages(header, header.blocks.back(), blocks);
  }
  return header;
}

/// The hard links of a group, by name, from its symbol table.
class Links {
 public:
  Links(FileBytes& file, std::string_view symbol_table) : file_(file) {
    Cursor in(symbol_table);
    const auto tree = in.number(8);
    read_names(in.number(8));
    branch(tree, {});
  }
  std::vector<Child> take() { return std::move(links_); }

 private:
  void read_names(std::uint64_t address) {
    const auto head = file_.bytes(address, 32);
    Cursor in(head);
    in.expect("HEAP");
    in.skip(4);
    const auto size = in.number(8);
    in.skip(8);
    names_ = file_.bytes(in.number(8), size);
  }

  /// Nodes that are pointed to more than once could be visited without end.
  void count_node() {
    constexpr std::uint64_t kSmallestNode = 8;
    if (++nodes_ > file_.size() / kSmallestNode) throw Damaged("its index has more nodes than the file has room for");
  }

  void branch(std::uint64_t address, std::optional<std::uint64_t> expected_level) {
    constexpr std::uint64_t kHead = 24;
    count_node();
    const auto head = file_.bytes(address, kHead);
    Cursor in(head);
    in.expect("TREE");
    const auto type = in.number(1), level = in.number(1), entries = in.number(2);
    if (type != 0) throw Damaged("its index is not a group's");
    if (level != expected_level.value_or(level)) throw Damaged("the levels of its index do not fit together");
    const auto body = file_.bytes(address + kHead, 8 + 16 * entries);
    Cursor items(body);
    for (std::uint64_t i = 0; i < entries; ++i) {
      items.skip(8);  // key
      const auto child = items.number(8);
      if (level > 0)
        branch(child, level - 1);
      else
        leaf(child);
    }
  }

  void leaf(std::uint64_t address) {
    constexpr std::uint64_t kHead = 8, kEntry = 40, kSoftLink = 2;
    count_node();
    const auto head = file_.bytes(address, kHead);
    Cursor in(head);
    in.expect("SNOD");
    in.skip(2);
    const auto entries = in.number(2);
    const auto body = file_.bytes(address + kHead, entries * kEntry);
    Cursor symbols(body);
    for (std::uint64_t i = 0; i < entries; ++i) {
      const auto name = symbols.number(8), object = symbols.number(8), cache = symbols.number(4);
      symbols.skip(20);
      if (name >= names_.size()) throw Damaged("the name of a link lies outside its group's heap");
      std::string text(std::string_view(names_).substr(static_cast<std::size_t>(name), names_.find('\0', name) - name));
      if (text <= last_) throw Damaged(fmt::format("its links are out of order at '{}'", one_line(text)));
      last_ = text;
      if (cache != kSoftLink) links_.push_back({std::move(text), object});
    }
  }

  FileBytes& file_;
  std::string names_, last_;
  std::vector<Child> links_;
  std::uint64_t nodes_ = 0;
};

Object parse(FileBytes& file, std::uint64_t address) {
  const auto header = read_header(file, address);
  Object object;
  std::optional<ClassicType> type;
  std::optional<ClassicSpace> space;
  std::optional<ClassicLayout> layout;
  for (const auto& message : header.messages) switch (message.kind) {
      case kDataspace: space = classic_space(message.data); break;
      case kDatatype: type = classic_type(message.data); break;
      case kLayout: layout = classic_layout(message.data); break;
      case kAttribute: object.attributes.insert(classic_attribute(file, message.data)); break;
      case kSymbolTable: object.children = Links(file, message.data).take(); break;
      case kLinkInfo:
      case kLink:
      case kExternalFiles:
      case kFilters:
      case kAttributeInfo: throw NotClassic{};
      default: break;  // fill value, times, comment: not needed to read
    }
  if (layout) {
    if (!type || !space) throw Damaged("a dataset without type or shape");
    object.data = classic_dataset(file, *type, *space, *layout);
  }
  return object;
}

class ClassicTree final : public Tree {
 public:
  ClassicTree(FileBytes& file, std::uint64_t root) : file_(file), root_(root) {}
  Node root() const override { return {"/", root_}; }
  Object load(const Node& node) override {
    try {
      return parse(file_, node.address);
    } catch (const Damaged& damage) {
      throw Damaged(fmt::format("{}: damaged: {}", one_line(node.path), damage.what()));
    }
  }

 private:
  FileBytes& file_;
  std::uint64_t root_;
};

}  // namespace

std::unique_ptr<Tree> open_classic(FileBytes& file) {
  const auto superblock = file.bytes(0, 96);
  Cursor in(superblock);
  in.expect("\x89HDF\r\n\x1a\n");
  const auto version = in.number(1);
  if (version > 1) throw NotClassic{};
  in.skip(4);
  const auto offset_bytes = in.number(1), length_bytes = in.number(1);
  if (offset_bytes != 8 || length_bytes != 8) throw NotClassic{};
  in.skip(version == 1 ? 13 : 9);
  const auto base = in.number(8);
  if (base != 0) throw NotClassic{};
  in.skip(32);  // free space, end of file, driver information, name of the root
  return std::make_unique<ClassicTree>(file, in.number(8));
}

}  // namespace megaup::core::detail
