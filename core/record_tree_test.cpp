#include <megaup/core/record_tree.hpp>

#include <cmath>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/record_bytes.hpp>
#include <megaup/core/test_support/files.hpp>

using namespace megaup::core;
using test_support::kGolden;

namespace {

bool same(const detail::Value& a, const detail::Value& b) {
  if (a.kind != b.kind || a.null != b.null || a.unwritten != b.unwritten || a.shape != b.shape || a.texts != b.texts ||
      a.integers != b.integers)
    return false;
  if (a.reals.size() != b.reals.size()) return false;
  for (std::size_t i = 0; i < a.reals.size(); ++i)
    if (a.reals[i] != b.reals[i] && !(std::isnan(a.reals[i]) && std::isnan(b.reals[i]))) return false;
  return true;
}

/// Walks both readers through the whole file; the number of objects that they agree on.
std::size_t compare(detail::Tree& classic, detail::Tree& library, const detail::Node& node) {
  INFO(node.path);
  const auto a = classic.load(node), b = library.load(node);
  REQUIRE(a.attributes.size() == b.attributes.size());
  for (const auto& [name, value] : a.attributes) {
    INFO(name);
    REQUIRE(b.attributes.contains(name));
    CHECK(same(value, b.attributes.at(name)));
  }
  REQUIRE(a.data.has_value() == b.data.has_value());
  if (a.data) CHECK(same(*a.data, *b.data));
  REQUIRE(a.children.size() == b.children.size());
  std::size_t n = 1;
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    CHECK(a.children[i].name == b.children[i].name);
    n += compare(classic, library,
                 {node.path + (node.path == "/" ? "" : "/") + a.children[i].name, a.children[i].address});
  }
  return n;
}

}  // namespace

TEST_CASE("the classic reader and the HDF5 library see the same golden files") {
  for (const auto* name : {"worked.h5", "incomplete.h5", "units.h5", "hostile.h5", "eight-blocks.h5", "twin-a.h5"}) {
    INFO(name);
    detail::FileBytes bytes(kGolden / name);
    const auto classic = detail::open_classic(bytes), library = detail::open_library(kGolden / name);
    CHECK(compare(*classic, *library, classic->root()) > 10);
  }
}
