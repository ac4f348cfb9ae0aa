#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <megaup/core/record.hpp>
#include <megaup/core/record_cell.hpp>
#include <megaup/core/record_source.hpp>
#include <megaup/core/text.hpp>

namespace megaup::core {
namespace {

using detail::Node;
using detail::Object;
using detail::RecordSource;

/// The file as a whole cannot be used.
[[noreturn]] void fail(const RecordSource& source, const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", source.name(), what));
}

std::string take_text(const RecordSource& source, Object& object, const char* path, const char* name) {
  const auto found = object.attributes.find(name);
  if (found == object.attributes.end())
    fail(source, fmt::format("{}: attribute '{}' is missing: write the file again with megaup", path, name));
  const auto value = detail::scalar(found->second);
  if (!value || !std::holds_alternative<std::string>(*value))
    fail(source, fmt::format("{}: attribute '{}' is not one text", path, name));
  object.attributes.erase(found);
  return std::get<std::string>(*value);
}

Node member(const RecordSource& source, const Node& group, const Object& object, std::string_view name) {
  for (const auto& child : object.children)
    if (child.name == name) return RecordSource::child(group, child);
  fail(source, fmt::format("{}: '{}' is missing: this is not a whole result file", group.path, name));
}

void check_version(const RecordSource& source, const std::string& version) {
  int major = 0;
  const auto* end = version.data() + version.size();
  const auto [rest, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || rest == end || *rest != '.')
    fail(source, fmt::format("/: attribute 'format_version': '{}' is not a version like {}", one_line(version),
                             kRecordVersion));
  if (major != 1)
    fail(
        source,
        fmt::format(
            "/: attribute 'format_version': {} cannot be read, this program reads 1.x: use a megaup of the file's time",
            one_line(version)));
}

void read_root(const RecordSource& source, Object& root, Record& record) {
  const auto format = take_text(source, root, "/", "format");
  if (format != kRecordFormat)
    fail(source, fmt::format("/: attribute 'format': '{}' is not '{}': this is no result file of megaup",
                             one_line(format), kRecordFormat));
  record.format_version = take_text(source, root, "/", "format_version");
  check_version(source, record.format_version);
  record.created = take_text(source, root, "/", "created");
  record.megaup_version = take_text(source, root, "/", "megaup_version");
  record.git = take_text(source, root, "/", "git");
  record.source = take_text(source, root, "/", "source");
  record.fabric = take_text(source, root, "/", "fabric");
  for (const auto& [name, value] : root.attributes)
    if (auto extra = detail::scalar(value)) record.extra.emplace(as_utf8(name), std::move(*extra));
}

std::string as_text(const Attribute& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  return number(std::get<double>(value));
}

/// Texts are attributes or, where they are too long for one, datasets.
void read_environment(RecordSource& source, const Node& node, Record& record) {
  const auto group = source.load(node);
  for (const auto& [name, value] : group.attributes)
    if (const auto text = detail::scalar(value)) record.environment.emplace(as_utf8(name), as_text(*text));
  for (const auto& child : group.children) {
    const auto object = source.load(RecordSource::child(node, child));
    if (!object.data) continue;
    if (const auto text = detail::scalar(*object.data)) record.environment.emplace(as_utf8(child.name), as_text(*text));
  }
  if (!record.environment.contains("host"))
    fail(source, "/environment: attribute 'host' is missing: without it nobody knows where the times were taken");
}

/// Bytes as they are: their hash must hold.
std::string read_document(RecordSource& source, const Node& group, const Object& object, std::string_view name) {
  const auto node = member(source, group, object, name);
  auto document = source.load(node);
  if (!document.data || document.data->texts.size() != 1) fail(source, fmt::format("{}: is not one text", node.path));
  return std::move(document.data->texts[0]);
}

void read_spec(RecordSource& source, const Node& node, Record& record) {
  auto group = source.load(node);
  record.spec_yaml = read_document(source, node, group, "yaml");
  record.spec_resolved = read_document(source, node, group, "resolved");
  if (group.attributes.contains("sha256_yaml"))
    record.spec_sha256_yaml = take_text(source, group, "/spec", "sha256_yaml");
  if (group.attributes.contains("sha256_resolved"))
    record.spec_sha256_resolved = take_text(source, group, "/spec", "sha256_resolved");
}

}  // namespace

Record for_each_cell(const std::filesystem::path& path, CellParts parts,
                     const std::function<void(const Record& header, CellRecord& cell)>& visit) {
  RecordSource source(path);
  Record record;
  record.path = path.string();
  try {
    const auto root = source.root();
    auto object = source.load(root);
    read_root(source, object, record);
    read_environment(source, member(source, root, object, "environment"), record);
    read_spec(source, member(source, root, object, "spec"), record);
    const auto cells = member(source, root, object, "cells");
    for (const auto& child : source.load(cells).children) {
      auto cell = detail::read_cell(source, RecordSource::child(cells, child), as_utf8(child.name), parts);
      visit(record, cell);
    }
  } catch (const detail::Damaged& damage) {
    fail(source, fmt::format("{}: copy the file again from where it was written", damage.what()));
  }
  return record;
}

Record read_record(const std::filesystem::path& path) {
  std::vector<CellRecord> cells;
  auto record = for_each_cell(path, {}, [&](const Record&, CellRecord& cell) { cells.push_back(std::move(cell)); });
  record.cells = std::move(cells);
  return record;
}

}  // namespace megaup::core
