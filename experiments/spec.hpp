#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <megaup/comm/exchange.hpp>
#include <megaup/core/problem.hpp>
#include <megaup/ops/kernel_wish.hpp>
#include <megaup/ops/regime.hpp>

/// An experiment as its YAML file states it, read and typed but not yet expanded into cells. docs/specs.md is the user's view of it.
namespace megaup::experiments {

/// Sizes of one model's attention block. Catalogue models come from experiments/models, inline ones from the spec.
struct Model {
  std::string name;
  std::int64_t hidden = 0, query_heads = 0, kv_heads = 0, head_dim = 0;
  friend bool operator==(const Model&, const Model&) = default;
};

/// What a cell is made of. Each is a key of `workload`, `matrix`, `include` and `exclude`.
enum class CellKey : std::uint8_t {
  model,   ///< either a model ...
  hidden,  ///< ... or its four sizes
  query_heads,
  kv_heads,
  head_dim,
  cp,
  tokens_per_rank,  ///< M = B*s, or ...
  sequence_length,  ///< ... S = P*s
  batch,
  dtype,
  format,
  sequence_order,
  qkv_weight,
  kv_replication,
};
constexpr std::size_t kCellKeys = 14;

std::string_view name(CellKey key);

/// Booleans before integers, so that neither converts into the other.
using CellValue = std::variant<bool, std::int64_t, std::string>;
std::string text(const CellValue& value);

/// One key with the values it takes, in the order of the file.
struct Axis {
  CellKey key;
  std::vector<CellValue> values;
};

/// The product of its axes, which may replace keys of the workload. `line` is where the spec states it.
struct CellProduct {
  int line = 0;
  std::vector<Axis> axes;
};

/// One value for some of the keys.
using CellValues = std::array<std::optional<CellValue>, kCellKeys>;

/// An arm beside those of the table: the first baseline once more, so that a cell holds a comparison of an arm with itself.
inline constexpr std::string_view kControl = "control";

/// An operation beside those of the table: all of them back to back, timed as one.
inline constexpr std::string_view kSequence = "sequence";

struct Arms {
  std::vector<std::string> baselines;
  std::string candidate;
  bool control = false;
  std::vector<std::string> bounds;  ///< the known bounds, or none with `bounds: false`

  /// baselines, candidate, control, bounds: the order of the record's arm axis and of an initial block.
  std::vector<std::string> all() const;
  /// The name in the table of arms of what an arm of all() runs: its own, but for the control.
  const std::string& row(const std::string& arm) const;
};

enum class Cadence : std::uint8_t { barrier, back_to_back };
enum class Cache : std::uint8_t { warm, cold };
/// blocked: all observations of an arm, then those of the next one. interleaved: one observation of each arm in turn.
enum class Schedule : std::uint8_t { blocked, interleaved };
enum class DeviceKind : std::uint8_t { host, cuda };
enum class CommunicatorChoice : std::uint8_t { automatic, self, threads, mpi };
enum class ValidateMode : std::uint8_t { before, every };

std::string_view name(Cadence value);
std::string_view name(Cache value);
std::string_view name(Schedule value);
std::string_view name(DeviceKind value);
std::string_view name(CommunicatorChoice value);
std::string_view name(ValidateMode value);

/// When a cell may end before its last pair: as soon as Delta is known to +- half_width.
struct Stop {
  double half_width_s = 0;
  std::int64_t max_pairs = 16;
};

struct Measure {
  std::int64_t warmup = 10;
  std::int64_t observations = 40;
  std::int64_t pairs = 1;  ///< pairs of one initial and one reversed block
  bool burn_in = false;    ///< one pair before them, whose times are not kept
  Schedule schedule = Schedule::blocked;
  std::optional<Stop> stop;
  Cadence cadence = Cadence::barrier;
  Cache cache = Cache::warm;
  ops::Regime duty = ops::Regime::sustained;  ///< spaced: devices rest before each observation
  double cell_timeout_s = 120;

  /// Pairs that are kept, at most.
  std::int64_t most_pairs() const { return stop ? stop->max_pairs : pairs; }
};

struct Backend {
  DeviceKind device = DeviceKind::host;
  CommunicatorChoice communicator = CommunicatorChoice::automatic;
  comm::Transport exchange = comm::Transport::automatic;  ///< of the arms that leave it open
  bool share_device = false;                              ///< all ranks on the first device, each on a part of it
  /// Rank 0 alone is timed, on the whole device, as if all that its peers send had come. Implies share_device.
  bool solo = false;
  ops::KernelWish push, pull;  ///< kernels of the fused arms: of GEMM -> A2A, and of A2A -> GEMM
};

struct Validate {
  ValidateMode mode = ValidateMode::before;
  std::uint64_t seed = 1;
};

struct Spec {
  std::string file;  ///< path, or name of a shipped spec: for messages
  std::string yaml;  ///< the bytes as given
  std::string name;
  std::map<std::string, Model, std::less<>> models;  ///< every model that the spec mentions, inline or of the catalogue
  CellValues workload;                               ///< stated by the spec, or the default
  std::optional<CellProduct> matrix;
  std::vector<CellProduct> include, exclude;
  std::vector<std::string> operations;
  Arms arms;
  Measure measure;
  Backend backend;
  Validate validate;
};

/// What a spec may ask of a planner of kernels.
struct KernelNames {
  std::span<const std::string_view> kernels, orders;
};

/// The names that exist in this program. The parser holds no list of its own.
struct KnownNames {
  std::span<const std::string_view> operations;
  std::span<const std::string_view> arms;                                 ///< ways to do a whole operation
  std::span<const std::string_view> bounds;                               ///< parts of it: what `bounds: true` adds
  std::span<const std::string_view> cuda_arms, cuda_bounds;               ///< the same with device: cuda
  std::string_view no_cuda_arms = "this program was built without CUDA";  ///< why cuda_arms is empty, if it is
  KernelNames push, pull;
};

/// Reads a spec. `file` is what messages call it. Throws core::Error{usage} whose text lists every error as file:line:column with the
/// source line, in the order of the file. Never depends on the locale.
Spec parse_spec(std::string_view yaml, const std::string& file, const KnownNames& known);

/// Reads the spec at a path, or the shipped spec of that name when `argument` names no file. Throws core::Error{usage}: no such file and
/// no such shipped spec (the nearest name and the list), not readable, larger than a spec may be, or as parse_spec.
Spec load_spec(const std::string& argument, const KnownNames& known);

/// The spec with every default filled in, as JSON text with a fixed order of keys and a fixed form of numbers.
std::string resolved_json(const Spec& spec);

}  // namespace megaup::experiments
