#include <megaup/simulation/fit.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/estimator.hpp>
#include <megaup/simulation/contention_fit.hpp>
#include <megaup/simulation/curve_fit.hpp>
#include <megaup/simulation/exchange_time.hpp>
#include <megaup/simulation/floor.hpp>
#include <megaup/simulation/fused_arm.hpp>
#include <megaup/simulation/gemm_time.hpp>

namespace megaup::simulation {
namespace {

using core::OperationForm;
using Cells = std::vector<const MeasuredCell*>;

constexpr const char* kUnnamedTransport = "backend";  // of runs that stored no name: what their communicator does

/// Fills a machine from cells, part after part: each may use those before it.
class Fit {
 public:
  Fit(const Cells& cells, const std::optional<Machine>& base) : cells_(cells), base_(base) {
    std::set<std::string> files;
    for (const MeasuredCell* cell : cells_) {
      files.insert(cell->file);
      date_ = std::max(date_, cell->date);
    }
    source_ = fmt::format("calibrated from {}", fmt::join(files, ", "));
  }

  Answer<Machine> run() {
    if (base_ && base_->fabric != cells_.front()->fabric)
      return Cannot{fmt::format("{} was measured over {}, machine '{}' is of {}: give a machine of the same fabric",
                                cells_.front()->file, cells_.front()->fabric, base_->name, base_->fabric)};
    for (const MeasuredCell* cell : cells_)
      if (base_ && base_->multiprocessors && cell->multiprocessors > 0 &&
          base_->multiprocessors->value != cell->multiprocessors)
        return Cannot{
            fmt::format("{} was measured on {} multiprocessors, machine '{}' has {}: give one of that hardware",
                        cell->file, cell->multiprocessors, base_->name, base_->multiprocessors->value)};
    take_setting();
    fit_gemm();
    fit_reorder();
    fit_gap();
    machine_.exchange = fit_curves(cells_, machine_, source_, date_);
    fit_link_rate();
    keep_other_curves();
    machine_.push = contention(core::Kind::gemm_to_a2a, push_seconds);
    machine_.pull = contention(core::Kind::a2a_to_gemm, pull_seconds);
    return machine_;
  }

 private:
  Figure figure(double value) const { return {rounded(value), source_, date_}; }

  void take_setting() {
    const MeasuredCell& first = *cells_.front();
    if (base_) {
      machine_ = *base_;
      machine_.gemm.clear(), machine_.exchange.clear(), machine_.cells.clear();
    }
    if (!base_) machine_.default_transport = kUnnamedTransport;
    machine_.fabric = first.fabric, machine_.duty = first.duty, machine_.schedule = first.schedule;
    for (const MeasuredCell* cell : cells_) {
      if (!cell->default_transport.empty()) machine_.default_transport = cell->default_transport;
      if (cell->multiprocessors > 0) machine_.multiprocessors = Count{cell->multiprocessors, source_, date_};
    }
  }

  void fit_gemm() {
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>, std::pair<double, std::int64_t>> sums;
    for (const MeasuredCell* cell : cells_)
      for (const OperationForm& op : core::kOperationForms) {
        const core::GemmShape shape = core::gemm_shape(op, cell->problem);
        auto& [sum, count] = sums[{shape.m, shape.n, shape.k, shape.weight_transposed}];
        sum += *cell->time(op.name, "gemm_only");
        ++count;
      }
    GemmTable table{fmt::format("{} (gemm_only)", source_), date_, {}};
    std::vector<double> rates;
    const double launch = machine_.launch ? machine_.launch->value : 0;
    for (const auto& [key, sum] : sums) {
      const auto& [m, n, k, transposed] = key;
      table.points.push_back({m, n, k, transposed, rounded(sum.first / static_cast<double>(sum.second))});
      const double seconds = table.points.back().seconds - launch;
      const core::GemmShape shape{m, n, k, transposed};
      if (seconds > 0)
        rates.push_back(static_cast<double>(waves(machine_, shape)) * full_wave_flop(machine_, k) / seconds);
    }
    machine_.gemm = {std::move(table)};
    machine_.gemm_rate.reset();
    if (!rates.empty() && machine_.multiprocessors) {
      const double rate = core::median(rates);
      machine_.gemm_rate = figure(machine_.peak_rate ? std::min(rate, machine_.peak_rate->value) : rate);
    }
  }

  /// Least squares of relative errors of t = 2 * launch + 4 * bytes / rate, launch not negative.
  void fit_reorder() {
    double s_11 = 0, s_1b = 0, s_bb = 0, s_1 = 0, s_b = 0;
    for (const MeasuredCell* cell : cells_)
      for (const OperationForm& op : core::kOperationForms) {
        const double seconds = *cell->time(op.name, "reorder_only");
        const double one = 2 / seconds;
        const double bytes = 4 * static_cast<double>(core::exchange_bytes(op, cell->problem)) / seconds;
        s_11 += one * one, s_1b += one * bytes, s_bb += bytes * bytes, s_1 += one, s_b += bytes;
      }
    const double determinant = s_11 * s_bb - s_1b * s_1b;
    double launch = determinant > 1e-9 * s_11 * s_bb ? (s_1 * s_bb - s_b * s_1b) / determinant : 0;
    double per_byte = (s_b - launch * s_1b) / s_bb;
    if (launch < 0 || per_byte <= 0) launch = 0, per_byte = s_b / s_bb;
    machine_.reorder = Reorder{figure(1 / per_byte), figure(launch)};
  }

  void fit_gap() {
    std::vector<double> gaps;
    for (const MeasuredCell* cell : cells_)
      for (const OperationForm& op : core::kOperationForms)
        if (const double* whole = cell->time(op.name, "native_packed"))
          gaps.push_back(*whole - *cell->time(op.name, "gemm_only") - *cell->time(op.name, "exchange_only") -
                         *cell->time(op.name, "reorder_only"));
    machine_.gap.reset();
    if (!gaps.empty()) machine_.gap = figure(core::median(gaps));
  }

  /// Curves of the base that this run says nothing about.
  void keep_other_curves() {
    if (!base_) return;
    for (const ExchangeCurve& curve : base_->exchange)
      if (find_curve(machine_, curve.transport, curve.ranks) == nullptr) machine_.exchange.push_back(curve);
  }

  void fit_link_rate() {
    double fastest = 0;
    for (const ExchangeCurve& curve : machine_.exchange)
      for (const ExchangePoint& point : curve.points) {
        const auto ranks = static_cast<double>(curve.ranks);
        fastest = std::max(fastest, point.bytes * (ranks - 1) / ranks / point.seconds);
      }
    if (machine_.peak_link_rate) fastest = std::min(fastest, machine_.peak_link_rate->value);
    machine_.link_rate = figure(fastest);
  }

  std::optional<Contention> contention(core::Kind kind, double (*seconds)(const FusedWork&)) const {
    std::vector<FusedSample> samples;
    for (const MeasuredCell* cell : cells_)
      for (const OperationForm& op : core::kOperationForms) {
        const double* measured = cell->time(op.name, "fused");
        if (op.kind != kind || measured == nullptr) continue;
        auto work = fused_work(machine_, op, cell->problem);
        if (!work) continue;
        work->compute = *cell->time(op.name, "gemm_only");  // of this very cell, as hot or cool as its fused arm
        samples.push_back({*work, machine_.barrier ? machine_.barrier->value : 0, *measured});
      }
    if (samples.empty()) return std::nullopt;
    const Factors factors = fit_contention(samples, seconds);
    return Contention{figure(factors.compute), figure(factors.link)};
  }

  const Cells& cells_;
  const std::optional<Machine>& base_;
  std::string source_, date_;
  Machine machine_;
};

}  // namespace

Answer<Machine> fit(const std::vector<const MeasuredCell*>& cells, const std::optional<Machine>& base) {
  return Fit(cells, base).run();
}

}  // namespace megaup::simulation
