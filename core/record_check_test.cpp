#include <megaup/core/record.hpp>

#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <megaup/core/hash.hpp>
#include <megaup/core/test_support/files.hpp>

using namespace megaup::core;
using test_support::kGolden;

namespace {

/// A record without violations that has every part.
Record sound() {
  auto record = read_record(kGolden / "twin-a.h5");
  auto& cell = record.cells[0];
  cell.started.assign(4 * 2 * 2, 1.8e9);
  cell.error_frobenius = cell.error_max = std::vector<double>(4 * 2, 1e-3);
  cell.error_bound.assign(4 * 2, 1e-2);
  return record;
}

}  // namespace

TEST_CASE("golden: violations name what a check must find, and only that") {
  CHECK(violations(read_record(kGolden / "worked.h5")).empty());
  CHECK(violations(read_record(kGolden / "eight-blocks.h5")).empty());
  CHECK(violations(read_record(kGolden / "incomplete.h5")) ==
        std::vector<std::string>{"/cells/nan: is measured, but 1 of 1280 times are not finite and positive, the first "
                                 "is nan at out_fwd, fused, block 0, observation 19, rank 0",
                                 "/cells/negative: is measured, but 1 of 1280 times are not finite and positive, the "
                                 "first is -0.001 at qkv_fwd, native_packed, block 0, "
                                 "observation 3, rank 0",
                                 "/cells/zeros: is measured, but 36 of 1280 times are not finite and positive, the "
                                 "first is 0 at out_dgrad, native_packed, block 1, observation 22, "
                                 "rank 0"});
}

TEST_CASE("a sound record has no violations") { CHECK(violations(sound()).empty()); }

TEST_CASE("violations of a file, one line each") {
  auto record = sound();
  std::string expected;
  SECTION("source") {
    record.source = "guessed";
    expected = "/: source 'guessed' is not one of measured, simulated";
  }
  SECTION("fabric") {
    record.fabric = "string";
    expected = "/: fabric 'string' is not one of host-memory, nvlink, pcie, network, emulated";
  }
  SECTION("no cells") {
    record.cells.clear();
    expected = "/: has no cells";
  }
  SECTION("hash") {
    record.spec_sha256_yaml = std::string(64, 'c');
    expected =
        "/spec: sha256 of 'yaml' is stored as " + std::string(64, 'c') + ", its bytes have " + sha256(record.spec_yaml);
  }
  SECTION("twins") {
    record.cells.push_back(record.cells[0]);
    expected = "/cells/same: there are two cells of this id";
  }
  CHECK(violations(record) == std::vector<std::string>{expected});
}

TEST_CASE("violations of a cell, one line each") {
  auto record = sound();
  auto& cell = record.cells[0];
  std::string expected;
  SECTION("status") {
    cell.status = "done";
    cell.reason = "x";
    expected = "/cells/same: status 'done' is not one of measured, failed, incomplete, refused";
  }
  SECTION("reason") {
    cell.status = "failed";
    expected = "/cells/same: its status is 'failed', without a reason";
  }
  SECTION("needless reason") {
    cell.reason = "because";
    expected = "/cells/same: is measured, yet has the reason 'because'";
  }
  SECTION("names") {
    cell.arms[0] = "fused";
    expected = "/cells/same: the arm 'fused' occurs twice";
  }
  SECTION("order") {
    cell.order[1] = 2;
    expected = "/cells/same: order has the value 2, and may have 0 (initial) or 1 (reversed)";
  }
  SECTION("size") {
    cell.head_dim = 0;
    expected = "/cells/same: head_dim is 0, and must be at least 1";
  }
  SECTION("error beyond its bound") {
    cell.error_max[3] = 0.5;
    expected = "/cells/same: is measured, but error_max of out_fwd, fused is 0.5, not within 0.01";
  }
  SECTION("error that is NaN") {
    cell.error_frobenius[0] = std::numeric_limits<double>::quiet_NaN();
    expected = "/cells/same: is measured, but error_frobenius of qkv_fwd, native_packed is nan, not within 0.01";
  }
  SECTION("shape") {
    cell.started.pop_back();
    expected =
        "/cells/same: started has 15 values, and its axes (operations 4, arms 2, blocks 2, observations 40, ranks 2) "
        "make "
        "16";
  }
  SECTION("fault") {
    cell.fault = "/cells/same/latency: unit missing";
    expected = cell.fault;
  }
  CHECK(violations(record) == std::vector<std::string>{expected});
}
