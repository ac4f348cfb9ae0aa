#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <megaup/core/operation.hpp>
#include <megaup/core/problem.hpp>

namespace megaup::simulation {

/// A number with where it is from. Its unit is that of the member which holds it: s, FLOP/s, bytes/s, 1.
struct Figure {
  double value = 0;
  std::string source, date;  ///< neither may be empty; the date is an ISO 8601 day or month: 2026-11-30, 2026-08
  friend bool operator==(const Figure&, const Figure&) = default;
};

struct Count {
  std::int64_t value = 0;
  std::string source, date;
  friend bool operator==(const Count&, const Count&) = default;
};

/// Rows and columns of C that one multiprocessor makes at a time.
struct Tile {
  std::int64_t m = 128, n = 256;
  std::string source, date;
  friend bool operator==(const Tile&, const Tile&) = default;
};

/// One measured GEMM C[m, n] = A[m, k] * B. `weight_transposed`: B = W^T (forward, TN), else B = W (dgrad, NN); nothing: either.
struct GemmPoint {
  std::int64_t m = 0, n = 0, k = 0;
  std::optional<bool> weight_transposed;
  double seconds = 0;
  friend bool operator==(const GemmPoint&, const GemmPoint&) = default;
};

/// Measured together: one source, one date. Points in any order; no two of one (m, n, k, weight_transposed).
struct GemmTable {
  std::string source, date;
  std::vector<GemmPoint> points;
  friend bool operator==(const GemmTable&, const GemmTable&) = default;
};

/// `bytes` is the buffer of one rank, (P-1)/P of which crosses between ranks (e*M*N of docs/operations.md; "size" of nccl-tests).
struct ExchangePoint {
  double bytes = 0, seconds = 0;
  friend bool operator==(const ExchangePoint&, const ExchangePoint&) = default;
};

/// All-to-all times of one transport among P ranks: bytes strictly increasing, seconds not decreasing.
struct ExchangeCurve {
  std::string transport;  ///< nccl | nccl_window | nccl_zero_cta | copy_engine | ...: see transport_of
  std::int64_t ranks = 0;
  std::string source, date;
  std::vector<ExchangePoint> points;
  friend bool operator==(const ExchangeCurve&, const ExchangeCurve&) = default;
};

/// One pass over a buffer (pack or unpack) takes launch + 2*bytes/rate: each byte is read and written.
struct Reorder {
  Figure rate;    ///< bytes/s, read plus written
  Figure launch;  ///< s
  friend bool operator==(const Reorder&, const Reorder&) = default;
};

/// Two factors of a fused kernel, both 1 for a kernel that does not notice its exchange:
///   compute  its multiplying takes compute * t_gemm, so below 1 where its own GEMM is faster than the library's
///   link     its bytes take link * (link bytes / link rate)
struct Contention {
  Figure compute, link;
  friend bool operator==(const Contention&, const Contention&) = default;
};

/// A measured cell that the figures were fitted to: what "inside the calibrated range" and "nearest" are judged by.
struct CalibratedCell {
  std::string file, cell, model;
  core::Problem problem;
  std::vector<std::string> arms;  ///< of the measured cell
  /// Held-out error of Delta, [baseline arm]: (predicted - measured) / sum of the baseline's measured times, predicted by a machine that was
  /// fitted without this cell's model. Absent where the cell has no fused arm, or no other model was measured.
  std::map<std::string, double> held_out;
  friend bool operator==(const CalibratedCell&, const CalibratedCell&) = default;
};

/// Everything that a machine file says. What is optional and absent makes the arms that need it unpredictable, with the reason.
struct Machine {
  std::string name, description;
  std::string fabric;                      ///< of its exchanges: nvlink | pcie | host-memory | network (never emulated)
  std::string duty;                        ///< of the measured cells: sustained | spaced; "" = no figure is from a run
  std::string schedule;                    ///< interleaved | blocked; "" as above
  std::string default_transport = "nccl";  ///< what native arms without a transport in their name use

  std::optional<Count> multiprocessors;
  std::optional<Tile> tile;  ///< of the GEMM, for counting waves; absent: 128 x 256

  std::optional<Figure> peak_rate;       ///< FLOP/s of the data sheet, for the floor
  std::optional<Figure> peak_link_rate;  ///< bytes/s each direction of a rank, of the data sheet, for the floor
  std::optional<Figure> gemm_rate;       ///< FLOP/s achieved in full waves, where no table reaches
  std::optional<Figure> link_rate;       ///< bytes/s achieved each direction, for the fused arm
  std::optional<Figure> launch;          ///< s of a kernel's start, part of a GEMM by rate and of each chunk
  std::optional<Figure> gap;      ///< s of a native arm beyond the sum of its parts timed alone; often negative, for
                                  ///< each part alone carries the cost of being timed
  std::optional<Figure> barrier;  ///< s at the end of a fused kernel until the last flag has come

  std::vector<GemmTable> gemm;  ///< the first table that holds a shape wins
  std::vector<ExchangeCurve> exchange;
  std::optional<Reorder> reorder;
  std::optional<Contention> push, pull;  ///< fused arms with the GEMM first, and with the exchange first
  std::vector<CalibratedCell> cells;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// What is wrong with a machine, and which member: "exchange[1].points[3]" and "bytes 4096 after 8192: sort the curve".
struct Violation {
  std::string member, what;
};

/// Empty if the machine is sound: name and fabric there (emulated is refused), every figure finite and positive (gap: finite; barrier and
/// launch: not negative) with source and date, curves and tables as their comments say, contention factors from kLeastFactor to kMostFactor.
std::vector<Violation> violations(const Machine& machine);

inline constexpr double kLeastFactor = 0.5, kMostFactor = 4.0;  // beyond, it is another kernel or another link

}  // namespace megaup::simulation
