#include <algorithm>
#include <map>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/core/record.hpp>

namespace megaup::cli {
namespace {

namespace fs = std::filesystem;

/// A folder of finished cells stands for the files in it.
std::vector<fs::path> expanded(const std::vector<fs::path>& inputs) {
  std::vector<fs::path> out;
  for (const auto& input : inputs) {
    if (!fs::is_directory(input)) {
      out.push_back(input);
      continue;
    }
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(input))
      if (entry.path().extension() == ".h5") inside.push_back(entry.path());
    if (inside.empty())
      throw core::Error(core::ErrorKind::usage, fmt::format("{}: holds no finished cell (*.h5)", input.string()));
    std::sort(inside.begin(), inside.end());
    out.insert(out.end(), inside.begin(), inside.end());
  }
  return out;
}

/// Shards of one experiment only: what is said once for the whole file must hold for every cell.
void refuse_mixture(const core::Record& first, const core::Record& next) {
  const auto refuse = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b)
      throw core::Error(core::ErrorKind::usage, fmt::format("{} and {} differ in {} ('{}', '{}'): merge joins the parts of one experiment only", first.path,
                                                            next.path, what, a, b));
  };
  const auto of = [](const core::Record& record, const char* key) {
    const auto at = record.environment.find(key);
    return at == record.environment.end() ? std::string() : at->second;
  };
  refuse("source", first.source, next.source);
  refuse("fabric", first.fabric, next.fabric);
  refuse("megaup_version", first.megaup_version, next.megaup_version);
  refuse("git", first.git, next.git);
  refuse("spec", first.spec_sha256_yaml, next.spec_sha256_yaml);
  for (const char* key : {"host", "hardware", "communicator"}) refuse(key, of(first, key), of(next, key));
}

int run(int argc, char** argv) {
  CLI::App app{"Join the parts of one experiment: files, or folders of finished cells (OUT.h5.cells)."};
  std::vector<fs::path> inputs;
  fs::path output;
  bool force = false;
  app.add_option("PART", inputs, "HDF5 files or folders of finished cells")->required();
  app.add_option("-o,--output", output, "the HDF5 file to write")->required();
  app.add_flag("--force", force, "replace an existing output");
  if (const auto status = parse_arguments(app, argc, argv)) return *status;

  core::Record merged;
  std::map<std::string, std::string> seen;  // cell id -> file
  for (const auto& path : expanded(inputs)) {
    auto record = core::read_record(path);
    if (seen.empty()) merged = record, merged.cells.clear();
    refuse_mixture(merged, record);
    for (auto& cell : record.cells) {
      if (const auto [at, fresh] = seen.emplace(cell.id, path.string()); !fresh)
        throw core::Error(core::ErrorKind::usage, fmt::format("cell {} is in {} and in {}: leave one of them out", cell.id, at->second, path.string()));
      if (!cell.fault.empty()) throw core::Error(core::ErrorKind::usage, fmt::format("{}: {}", path.string(), cell.fault));
      merged.cells.push_back(std::move(cell));
    }
  }
  core::write_record(merged, output, force);
  fmt::print(stderr, "megaup: wrote {} cells to {}\n", merged.cells.size(), output.string());
  return 0;
}

}  // namespace

extern const Command merge_command;
const Command merge_command{"merge", "join the parts of one experiment into one file", run};

}  // namespace megaup::cli
