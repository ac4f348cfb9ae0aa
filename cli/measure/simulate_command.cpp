#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <megaup/cli/arguments.hpp>
#include <megaup/cli/command.hpp>
#include <megaup/cli/inputs.hpp>
#include <megaup/cli/measure/measuring.hpp>
#include <megaup/cli/measure/prediction_text.hpp>
#include <megaup/cli/terminal.hpp>
#include <megaup/core/atomic_file.hpp>
#include <megaup/core/output_probe.hpp>
#include <megaup/core/version.hpp>
#include <megaup/simulation/calibrate.hpp>

namespace megaup::cli {
namespace {

struct Request {
  std::string spec, machine, name;
  std::vector<std::filesystem::path> calibrate, validate;
  std::filesystem::path output;
  bool force = false;
};

[[noreturn]] void refuse(const std::string& what) { throw core::Error(core::ErrorKind::usage, what); }

/// The names of the table of arms and those that can be predicted: what a GPU would do needs no build for GPUs.
class PredictableTables {
 public:
  PredictableTables() {
    const auto names = tables_.names();
    arms_.assign(names.cuda_arms.begin(), names.cuda_arms.end());
    bounds_.assign(names.cuda_bounds.begin(), names.cuda_bounds.end());
    for (const auto& arm : simulation::arm_models()) {
      auto& known = arm.bound ? bounds_ : arms_;
      if (std::ranges::find(known, arm.name) == known.end()) known.push_back(arm.name);
    }
  }
  experiments::KnownNames names() const {
    auto names = tables_.names();
    names.cuda_arms = arms_;
    names.cuda_bounds = bounds_;
    return names;
  }

 private:
  KnownTables tables_;
  std::vector<std::string_view> arms_, bounds_;
};

/// A file given twice would count twice.
void refuse_twins(const std::vector<std::filesystem::path>& files) {
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same_file(files[i], files[j]))
        refuse(fmt::format("{} is given twice ({}): leave one out", files[i].string(), files[j].string()));
}

/// An existing output, or one that cannot be written, is found before anything is computed.
void probe(const Request& request, std::uint64_t bytes) {
  std::vector<std::filesystem::path> inputs{request.spec, request.machine};
  inputs.insert(inputs.end(), request.calibrate.begin(), request.calibrate.end());
  protect_inputs(inputs, request.output);
  if (!request.output.empty()) core::probe_output(request.output, request.force, bytes);
}

int predict(const Request& request) {
  constexpr std::uint64_t kBytesOfACell = std::uint64_t{32} * 1024;
  const PredictableTables tables;
  const auto spec = experiments::load_spec(request.spec, tables.names());
  if (const auto why = experiments::unpredictable(spec)) refuse(*why);
  const auto machine = experiments::load_machine(request.machine);
  const auto plan = experiments::plan(spec, {.version = core::version()});
  probe(request, kBytesOfACell * plan.cells.size());

  const auto cells = experiments::predict(plan, machine.machine);
  if (!request.output.empty())
    core::write_record(experiments::predicted_record(plan, machine, cells), request.output, request.force);
  fmt::print("{}", prediction_text(machine, cells, spec, output_width()));
  if (!request.output.empty()) fmt::print(stderr, "megaup: wrote {}\n", request.output.string());

  const auto complete = [](const auto& cell) { return cell.refused.empty() && cell.without.empty(); };
  const auto usable = [](const auto& cell) { return cell.refused.empty(); };
  if (std::ranges::none_of(cells, usable)) {
    fmt::print(stderr, "megaup: {}: no cell of this spec can be predicted: {}\n", spec.file, cells.front().refused);
    return core::exit_status(core::ErrorKind::cell);
  }
  return std::ranges::all_of(cells, complete) ? 0 : core::exit_status(core::ErrorKind::cell);
}

simulation::Measurements measured(const std::vector<std::filesystem::path>& files) {
  refuse_twins(files);
  std::vector<core::Record> records;
  records.reserve(files.size());
  for (const auto& file : files) records.push_back(core::read_record(file));
  auto found = simulation::measurements(records);
  if (!found) refuse(found.reason());
  return std::move(*found);
}

std::optional<simulation::Machine> base(const Request& request) {
  if (request.machine.empty()) return {};
  return experiments::load_machine(request.machine).machine;
}

int calibrate(const Request& request) {
  constexpr std::uint64_t kLargest = 1 << 20;
  probe(request, kLargest);
  const auto measurements = measured(request.calibrate);
  std::vector<std::string> files;
  for (const auto& file : request.calibrate) files.push_back(file.filename().string());
  const auto machine = simulation::calibrate(
      measurements, base(request), request.name.empty() ? request.output.stem().string() : request.name,
      fmt::format("calibrated by megaup {} from {}", core::version(), fmt::join(files, ", ")));
  if (!machine) refuse(machine.reason());
  core::write_file(request.output, experiments::machine_yaml(*machine), request.force);
  fmt::print("{}", calibration_text(*machine, measurements, output_width()));
  fmt::print(stderr, "megaup: wrote {}\n", request.output.string());
  return 0;
}

int validate(const Request& request) {
  const auto measurements = measured(request.validate);
  const auto validation = simulation::validate(measurements, base(request));
  if (!validation) refuse(validation.reason());
  fmt::print("{}", validation_text(*validation, measurements, output_width()));
  return 0;
}

/// What CLI11 cannot say about options that belong together.
void check(const Request& request) {
  const int modes =
      (request.spec.empty() ? 0 : 1) + (request.calibrate.empty() ? 0 : 1) + (request.validate.empty() ? 0 : 1);
  if (modes != 1) refuse("simulate takes one of three: a SPEC, --calibrate FILE..., --validate FILE...");
  if (!request.spec.empty() && request.machine.empty())
    refuse(fmt::format("simulate needs --machine: a file, or one of {}",
                       fmt::join(experiments::shipped_machines(), ", ")));
  if (!request.calibrate.empty() && request.output.empty()) refuse("--calibrate needs -o: the machine file to write");
  if (!request.validate.empty() && !request.output.empty())
    refuse("--validate prints and writes nothing: leave -o out");
  if (request.calibrate.empty() && !request.name.empty())
    refuse("--name is the name of the machine that --calibrate writes");
}

int run(int argc, char** argv) {
  CLI::App app{
      "Predict a spec on a machine that a file describes; write such a file from measured files; or say how far off "
      "its "
      "predictions are."};
  Request request;
  app.add_option("SPEC", request.spec, "a spec file, or the name of a shipped one (reference-56, ...)");
  app.add_option(
      "--machine", request.machine,
      "a machine file, or the name of a shipped one; with --calibrate and --validate: where figures come from "
      "that a run cannot tell");
  app.add_option("--calibrate", request.calibrate, "measured files to write a machine file from")->expected(1, -1);
  app.add_option("--validate", request.validate, "measured files to predict, each model left out in turn")
      ->expected(1, -1);
  app.add_option("--name", request.name, "with --calibrate: the machine's name, if not that of the file");
  app.add_option("-o,--output", request.output, "the HDF5 file (source = simulated) or the machine file to write");
  app.add_flag("--force", request.force, "replace an existing output");
  app.footer(fmt::format("Machines: {}.\nExit status: 0 all cells predicted; 2 usage; 3 some cells or arms were not.",
                         fmt::join(experiments::shipped_machines(), ", ")));
  if (const auto status = parse_arguments(app, argc, argv)) return *status;
  check(request);
  if (!request.calibrate.empty()) return calibrate(request);
  if (!request.validate.empty()) return validate(request);
  return predict(request);
}

}  // namespace

extern const Command simulate_command;
const Command simulate_command{"simulate", "predict a spec on a described machine, without running anything", run};

}  // namespace megaup::cli
