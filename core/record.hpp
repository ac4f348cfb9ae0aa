#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <megaup/core/device_series.hpp>
#include <megaup/core/error.hpp>

/// The result file: the only thing that measurement and analysis share. HDF5 stays hidden in record_*.cpp.
namespace megaup::core {

inline constexpr std::string_view kRecordFormat = "megaup-measurement";
inline constexpr std::string_view kRecordVersion = "1.0.0";  // readers accept the same major version

using Attribute = std::variant<std::string, std::int64_t, double>;
using Attributes = std::map<std::string, Attribute>;

/// One configuration and its times.
///   latency          seconds, [operation, arm, block, observation, rank], row-major; NaN = not taken
///   order            [block], 0 initial, 1 reversed
///   started          seconds since the epoch, [operation, arm, block]; NaN or empty = unknown
///   error_*          [operation, arm]; relative Frobenius error, largest element error, and the bound they were judged by; may be empty
struct CellRecord {
  std::string id;
  std::string model;
  std::int64_t hidden = 0, query_heads = 0, kv_heads = 0, head_dim = 0, cp = 0, batch = 0, tokens_per_rank = 0;
  std::string dtype = "bf16", format, sequence_order, qkv_weight;
  std::string status;  ///< measured | failed | incomplete | refused
  std::string reason;  ///< empty when measured
  Attributes extra;    ///< every other attribute of the cell (choices, duty, cadence, peak_rank_bytes, ...), unknown ones kept

  std::vector<std::string> operations, arms;
  std::vector<std::uint8_t> order;
  std::int64_t observations = 0, ranks = 0;
  std::vector<double> latency;
  std::vector<double> started;
  std::vector<double> error_frobenius, error_max, error_bound;
  DeviceSeries device;  ///< clocks, power, ...: [operation, arm, block, rank]

  /// Set by the reader when this cell's data cannot be used (unknown unit, wrong shape, missing attribute): one line naming object and
  /// attribute. Such a cell keeps what could be read and must not get a Delta.
  std::string fault;

  std::size_t index(std::size_t op, std::size_t arm, std::size_t block, std::size_t observation, std::size_t rank) const {
    return (((op * arms.size() + arm) * order.size() + block) * static_cast<std::size_t>(observations) + observation) *
               static_cast<std::size_t>(ranks) + rank;
  }
};

struct Record {
  std::string path;  ///< where it was read from; not stored
  std::string format_version{kRecordVersion};
  std::string created, megaup_version, git;
  std::string source = "measured";     ///< measured | simulated
  std::string fabric = "host-memory";  ///< host-memory | nvlink | pcie | network | emulated
  Attributes extra;                    ///< further root attributes (plan_sha256, ...), unknown ones kept
  std::map<std::string, std::string> environment;
  std::string spec_yaml, spec_resolved;  ///< bytes as given; resolved JSON
  std::string spec_sha256_yaml, spec_sha256_resolved;
  std::vector<CellRecord> cells;  ///< sorted by id on disk
};

/// Reads a file of the same major version. Never writes to it. Throws Error{usage} with one line naming file, object and attribute: not
/// HDF5, truncated, damaged, not closed by its writer, foreign format, newer major version, missing root attribute or host; and
/// Error{environment} if it cannot be opened or a writer has it locked. Cell-level faults are kept in CellRecord::fault. Accepts units s, ms, us, ns and fixed or variable strings of any padding. A null byte ends a fixed string.
Record read_record(const std::filesystem::path& path);

/// What for_each_cell reads of each cell beside its attributes, latency, order, operations and arms; the rest stays empty.
struct CellParts {
  bool started = true;  ///< and what devices said in each block
  bool errors = true;
};

/// Reads a file like read_record, one cell at a time in order of id, so that memory stays at one cell: `visit(header, cell)` may take what
/// it wants from `cell`, whose storage is used again for the next one. `header` is everything but the cells; it is also the result (a file
/// without cells still has one). Errors as read_record; an exception from `visit` ends the reading and passes through.
Record for_each_cell(const std::filesystem::path& path, CellParts parts,
                     const std::function<void(const Record& header, CellRecord& cell)>& visit);

/// Writes a whole new file: temporary name in the same folder, close, fsync, rename, fsync of the folder. Throws Error{environment} with
/// path and errno (disk full, no permission). With overwrite = false an existing path is refused (Error{usage}) and untouched. Refused too
/// (Error{usage}): cell ids that are empty, "." or "..", or have '/' or a null byte; texts with a null byte; two cells of one id; vectors that
/// do not fit their axes; cells with a fault; an environment without 'host'. A reason beyond 60,000 bytes is cut, and says so.
void write_record(const Record& record, const std::filesystem::path& path, bool overwrite);

/// Checks a record against the schema's invariants (shapes, names unique, order values, statuses, sha256 of the specs, finite positive
/// times of measured cells). One line a violation, in file order; empty = sound.
std::vector<std::string> violations(const Record& record);

}  // namespace megaup::core
