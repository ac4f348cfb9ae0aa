#include <string>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/error.hpp>
#include <megaup/experiments/yaml_tree.hpp>

using namespace megaup::experiments;

namespace {

/// Everything that is wrong with a text, as its user sees it.
std::string report(std::string_view text) {
  Diagnostics diagnostics("f.yaml", text);
  read_yaml(text, diagnostics);
  return diagnostics.report();
}
bool mentions(const std::string& report, std::string_view part) {
  INFO(report);
  return report.find(part) != std::string::npos;
}
YamlNodePtr tree(std::string_view text) {
  Diagnostics diagnostics("f.yaml", text);
  auto root = read_yaml(text, diagnostics);
  CHECK(diagnostics.report() == "");
  REQUIRE(root);
  return root;
}
const YamlNode& at(const YamlNode& map, std::string_view key) {
  for (const auto& entry : map.entries)
    if (entry.key == key) return *entry.value;
  FAIL("no key " << key);
  return map;
}

}  // namespace

TEST_CASE("every scalar is text, with its place and its quotes", "[yaml]") {
  const auto root = tree("a: 0010\nb: \"no\"\nc: [NO, 1.5, ~]\nd: {\xc3\xbc: x}\n");
  CHECK(at(*root, "a").text == "0010");
  CHECK_FALSE(at(*root, "a").quoted);
  CHECK(at(*root, "b").quoted);
  CHECK(at(*root, "c").items[0]->text == "NO");
  CHECK(at(*root, "c").items[2]->kind == YamlNode::Kind::null);
  CHECK(at(*root, "c").items[1]->where == TextPosition{2, 8});
  CHECK(at(at(*root, "d"), "\xc3\xbc").where == TextPosition{3, 8});  // bytes, not characters
}

TEST_CASE("duplicate keys name both lines", "[yaml]") {
  CHECK(mentions(report("cp: 2\nx: 1\ncp: 4\n"),
                 "f.yaml:3:1: error: duplicate key 'cp' on line 3: already given on line 1"));
  CHECK(mentions(report("a: {cp: 2,\n  \"cp\": 4}\n"), "duplicate key 'cp' on line 2: already given on line 1"));
  CHECK(mentions(report("a: &x {cp: 2, cp: 4}\nb: *x\n"), "f.yaml:1:15: error: duplicate key 'cp'"));
}

TEST_CASE("one document only", "[yaml]") {
  CHECK(mentions(report("cp: 2\n---\ncp: 4\n"), "f.yaml:2:1: error: this file holds 2 documents"));
  CHECK(mentions(report("cp: 2\n---\ncp: 4\n---\ncp: 5\n"), "3 documents"));
  CHECK(mentions(report("cp: 2\n---\n"), "2 documents"));
  CHECK(report("---\ncp: 2\n...\n").empty());
}

TEST_CASE("tabs as indentation are found, tabs elsewhere are fine", "[yaml]") {
  CHECK(mentions(report("a:\n\tcp: 2\n"), "f.yaml:2:1: error: tab used as indentation"));
  CHECK(mentions(report("a:\n  \tcp: 2\n"), "f.yaml:2:3: error: tab"));
  CHECK(report("cp: 2\t# note\n\t# a comment\n\t\n").empty());
  CHECK(tree("cp: 2\t# note\n")->entries[0].value->text == "2");
}

TEST_CASE("a caret below a tab stays below its character", "[yaml]") {
  Diagnostics diagnostics("f.yaml", "k:\tv\xc3\xbc:x\n");
  diagnostics.add({0, 6}, "here");
  CHECK(diagnostics.report() == "1 error in f.yaml\nf.yaml:1:6: error: here\n  k:\tv\xc3\xbc:x\n    \t  ^");
}

TEST_CASE("what a spec may not hold is named", "[yaml]") {
  CHECK(mentions(report(""), "empty"));
  CHECK(mentions(report("# only a comment\n"), "empty"));
  CHECK(mentions(report("~\n"), "empty"));
  CHECK(mentions(report("a: \xff\n"), "f.yaml:1:4: error: byte 0xFF is not UTF-8"));
  CHECK(mentions(report("a: \xc3\xbc\xc0\x80\n"), "f.yaml:1:5: error: byte 0xC0"));
  CHECK(mentions(report(std::string("a: b\0c\n", 7)), "f.yaml:1:5: error: control character U+0000"));
  CHECK(mentions(report("\xef\xbb\xbf"
                        "a: 1\n"),
                 "byte order mark"));
  CHECK(mentions(report("a: &x {k: 1}\nb: {<<: *x}\n"), "f.yaml:2:5: error: merge keys (<<)"));
  CHECK(mentions(report("a: !!int 3\n"), "tags (!)"));
  CHECK(mentions(report("a: !x {b: 3}\n"), "tags (!)"));
  CHECK(mentions(report("? [a]\n: b\n"), "a key must be a name"));
  CHECK(mentions(report("a: *y\n"), "anchor is not defined"));
  CHECK(mentions(report("a: &x [*x]\n"), "f.yaml:1:8: error: this alias refers to a value that contains it"));
  CHECK(mentions(report("a: b: c\n"), "f.yaml:1:5: error: not valid YAML: illegal map value"));
  CHECK(mentions(report("a: {b: 1\n"), "not valid YAML"));
  CHECK(mentions(report(std::string((1 << 20) + 1, '#')), "1048577 bytes"));
}

TEST_CASE("errors of one file come together and in order", "[yaml]") {
  const std::string text = report("b: 1\n<<: {}\nb: 2\nb: 3\n");
  CHECK(text.starts_with("3 errors in f.yaml\nf.yaml:2:1: error: merge"));
  CHECK(text.find("f.yaml:3:1") < text.find("f.yaml:4:1"));
}

TEST_CASE("an alias is the anchored value with its own place", "[yaml]") {
  const auto root = tree("a: &x {k: v}\nb: *x\n");
  CHECK(&at(*root, "a") == &at(*root, "b"));
  CHECK(at(at(*root, "b"), "k").where == TextPosition{0, 10});
}

TEST_CASE("nesting and aliases are bounded", "[yaml]") {
  CHECK(mentions(report(std::string(100'000, '[')), "error"));
  std::string deep = "a: ";
  for (int i = 0; i < 40; ++i) deep += "[";
  for (int i = 0; i < 40; ++i) deep += "]";
  CHECK(mentions(report(deep + "\n"), "nested deeper than 32 levels"));
  std::string bomb = "a0: &a0 [1, 2]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  CHECK(mentions(report(bomb), "more than 1000000 values"));
}

TEST_CASE("long and hostile lines are shown in a safe form", "[yaml]") {
  const std::string text = "a: " + std::string(100'000, 'x') + "\na: 1\n" + "b: \x1b[31m\n";
  const std::string shown = report(text);
  CHECK(shown.size() < 1000);
  CHECK(mentions(shown, "U+001B"));
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(in_quotes(std::string(1000, 'y')).size() < 80);
}
