#include <catch2/catch_test_macros.hpp>

#include <string>

#include <megaup/core/error.hpp>
#include <megaup/experiments/embedded.hpp>
#include <megaup/experiments/machine_file.hpp>

using namespace megaup;
using namespace megaup::experiments;

namespace {

/// Every member set, with texts and numbers that are easily lost.
simulation::Machine full_machine() {
  simulation::Machine m;
  m.name = "two \"quotes\", a \\ and a: colon # no comment";
  m.description = "line one\nline two, \xc3\xbc";
  m.fabric = "nvlink", m.duty = "sustained", m.schedule = "interleaved", m.default_transport = "nccl_window";
  m.multiprocessors = {132, "data sheet", "2026-11-29"};
  m.tile = {256, 192, "a guess", "2026-11"};
  m.peak_rate = {989.4e12, "a", "2026-11-29"};
  m.peak_link_rate = {450e9, "b", "2026-11-29"};
  m.gemm_rate = {1.0 / 3 * 1e15, "c", "2026-11-29"};
  m.link_rate = {378.7e9, "d", "2026-08"};
  m.launch = {2.5e-6, "e", "2026-08"};
  m.gap = {-1.2345678901234567e-6, "f", "2026-08"};
  m.barrier = {0, "g", "2026-08"};
  m.reorder = {{{3.6e12, "h", "2026-08"}, {2e-6, "i", "2026-08"}}};
  m.push = {{{0.97, "j", "2026-08"}, {1.1, "k", "2026-08"}}};
  m.pull = {{{1, "l", "2026-08"}, {1.0 / 0.7, "m", "2026-08"}}};
  m.gemm = {
      {"n", "2026-08", {{2048, 6144, 4096, true, 131.7e-6}, {2048, 4096, 6144, false, 1.0 / 7e3}, {1, 1, 1, {}, 1e-6}}},
      {"o", "2026-08", {{8192, 6144, 4096, true, 521e-6}}}};
  m.exchange = {{"nccl", 2, "p", "2026-08", {{65536, 9.5e-6}, {1 << 20, 1.0 / 3e4}}},
                {"copy_engine", 8, "q", "2026-08", {{100001, 1e-5}}}};
  core::Problem problem{.P = 2, .B = 4, .s = 512, .H = 4096, .Hq = 32, .Hk = 1, .D = 128};
  problem.format = core::ActivationFormat::thd, problem.order = core::SequenceOrder::dual_chunk;
  problem.qkv_weight = core::QkvWeight::concatenated, problem.kv_replication = true;
  m.cells = {{"a file.h5",
              "id.1",
              "Mod\xc3\xa8le",
              problem,
              {"native_packed", "fused"},
              {{"native_packed", -0.0123}, {"null", 1e-9}}},
             {"b.h5", "id.2", "m", problem, {"gemm_only"}, {}}};
  return m;
}

constexpr std::string_view kSmall =
    "machine_version: 1\n"
    "name: small\n"
    "description: for tests\n"
    "fabric: nvlink\n"
    "link_rate: {value: 378 GB/s, source: somewhere, date: 2026-08}\n"
    "gemm:\n"
    "  - source: somewhere\n"
    "    date: 2026-08\n"
    "    points:\n"
    "      - [2048, 6144, 4096, TN, 130 us]\n"
    "exchange:\n"
    "  - transport: nccl\n"
    "    ranks: 2\n"
    "    source: somewhere\n"
    "    date: 2026-08\n"
    "    points:\n"
    "      - [1 MiB, 30 us]\n"
    "      - [2 MiB, 40 us]\n";

/// The message about the small machine after a text was replaced; "" if it is still fine.
std::string message(std::string_view from, std::string_view to) {
  std::string yaml(kSmall);
  const auto at = yaml.find(from);
  REQUIRE(at != std::string::npos);
  yaml.replace(at, from.size(), to);
  try {
    parse_machine(yaml, "m.yaml");
  } catch (const core::Error& error) {
    CHECK(error.kind() == core::ErrorKind::usage);
    return error.what();
  }
  return "";
}

void check(std::string_view from, std::string_view to, std::string_view expected) {
  const auto text = message(from, to);
  INFO(text);
  CHECK(text.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("a machine is the same after it was written and read", "[machine]") {
  const auto machine = full_machine();
  const auto yaml = machine_yaml(machine);
  INFO(yaml);
  const auto again = parse_machine(yaml, "full.yaml");
  CHECK(again == machine);
  CHECK(machine_yaml(again) == yaml);
}

TEST_CASE("every shipped machine is sound, has the name of its file and survives writing", "[machine]") {
  CHECK(embedded_machines().size() >= 4);
  for (const auto& file : embedded_machines()) {
    INFO(file.name);
    const auto machine = parse_machine(file.bytes, std::string(file.name));
    CHECK(machine.name + ".yaml" == file.name);
    CHECK(parse_machine(machine_yaml(machine), "again.yaml") == machine);
  }
}

TEST_CASE("values are in SI units", "[machine]") {
  const auto machine = parse_machine(kSmall, "m.yaml");
  CHECK(machine.link_rate->value == 378e9);
  CHECK(machine.gemm[0].points[0] == simulation::GemmPoint{2048, 6144, 4096, true, 130e-6});
  CHECK(machine.exchange[0].points[1] == simulation::ExchangePoint{2097152, 40e-6});
  CHECK(machine.default_transport == "nccl");
}

TEST_CASE("what is wrong with a machine file is shown where it is", "[machine]") {
  CHECK(message("2 MiB", "1 MiB") != "");
  check("link_rate: {value: 378 GB/s", "link_rates: {value: 378 GB/s",
        "m.yaml:5:1: error: unknown key 'link_rates' in 'machine' (did you mean 'link_rate'?)\n"
        "  link_rates: {value: 378 GB/s, source: somewhere, date: 2026-08}\n"
        "  ^");
  check("378 GB/s", "378",
        "m.yaml:5:20: error: 'link_rate' must be a number with a unit (MB/s, GB/s, TB/s), for example 378 GB/s, not "
        "'378'");
  check("378 GB/s", "378 us", "must be a number with one of the units MB/s, GB/s, TB/s, not '378 us'");
  check("378 GB/s", "-378 GB/s", "m.yaml:5:12: error: link_rate");
  check(", source: somewhere, date: 2026-08}", ", date: 2026-08}",
        "m.yaml:5:12: error: key 'source' is missing in 'link_rate'");
  check(", date: 2026-08}", "}", "key 'date' is missing in 'link_rate'");
  check("[2 MiB, 40 us]", "[512 KiB, 40 us]", "m.yaml:18:9: error: exchange[0].points[1]");
  check("[2 MiB, 40 us]", "[2 MiB, 20 us]", "m.yaml:18:9: error: exchange[0].points[1]");
  check("[2 MiB, 40 us]", "[2 MiB]", "a point must be [bytes, time], not a list of 1 values");
  check("TN, 130 us", "NT, 130 us", "'form' must be one of NN, TN, any, not 'NT'");
  check("TN, 130 us", "TN, 0 us", "m.yaml:10:9: error: gemm[0].points[0]");
  check("fabric: nvlink", "fabric: emulated", "m.yaml:4:9: error: fabric");
  check("name: small\n", "", "key 'name' is missing in 'machine'");
  check("machine_version: 1", "machine_version: 2", "'machine_version' must be a whole number from 1 to 1");
  check("ranks: 2", "ranks: two", "'ranks' must be a whole number");
  check("ranks: 2\n", "ranks: 2\n    rank: 2\n", "unknown key 'rank' in 'exchange[0]' (did you mean 'ranks'?)");
}

TEST_CASE("all errors of a machine file come at once", "[machine]") {
  std::string yaml(kSmall);
  yaml.replace(yaml.find("378 GB/s"), 8, "fast");
  yaml.replace(yaml.find("130 us"), 6, "130");
  yaml += "speed: 1\n";
  try {
    parse_machine(yaml, "m.yaml");
    FAIL("accepted");
  } catch (const core::Error& error) {
    CHECK(std::string(error.what()).starts_with("3 errors in m.yaml\nm.yaml:5:20: error:"));
  }
}

TEST_CASE("an unknown machine is refused with the nearest name", "[machine]") {
  try {
    load_machine("h100-smx");
    FAIL("accepted");
  } catch (const core::Error& error) {
    CHECK(error.kind() == core::ErrorKind::usage);
    CHECK(std::string(error.what()) ==
          "'h100-smx': no such file, and no shipped machine of that name (did you mean 'h100-sxm'?)");
  }
  CHECK(load_machine("h100-sxm").machine.name == "h100-sxm");
}
