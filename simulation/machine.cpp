#include <megaup/simulation/machine.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include <megaup/core/text.hpp>

namespace megaup::simulation {
namespace {

enum class Sign { positive, not_negative, any };

bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() != 7 && text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != '-') return false;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + digits; ++i) value = 10 * value + static_cast<unsigned>(text[i] - '0');
    return value;
  };
  return std::chrono::year_month_day{std::chrono::year(static_cast<int>(number(0, 4))),
                                     std::chrono::month(number(5, 2)),
                                     std::chrono::day(text.size() == 7 ? 1 : number(8, 2))}
      .ok();
}

class Checker {
 public:
  explicit Checker(const Machine& machine) : machine_(machine) {}

  std::vector<Violation> run() {
    check_names();
    check_counts();
    check_figures();
    for (std::size_t i = 0; i < machine_.gemm.size(); ++i) check_table(fmt::format("gemm[{}]", i), machine_.gemm[i]);
    for (std::size_t i = 0; i < machine_.exchange.size(); ++i)
      check_curve(fmt::format("exchange[{}]", i), machine_.exchange[i]);
    check_cells();
    return std::move(found_);
  }

 private:
  void add(std::string member, std::string what) { found_.push_back({std::move(member), std::move(what)}); }

  void one_of(const char* member, const std::string& value, std::initializer_list<std::string_view> allowed) {
    if (std::ranges::find(allowed, value) != allowed.end()) return;
    std::string names;
    for (const std::string_view name : allowed) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    add(member, fmt::format("'{}' is not one of {}", value, names));
  }

  void check_names() {
    if (machine_.name.empty()) add("name", "a machine needs a name");
    if (machine_.fabric == "emulated")
      add("fabric", "ranks that shared one device say nothing about a link: emulated cannot be a machine's fabric");
    else
      one_of("fabric", machine_.fabric, {"nvlink", "pcie", "host-memory", "network"});
    if (!machine_.duty.empty()) one_of("duty", machine_.duty, {"sustained", "spaced"});
    if (!machine_.schedule.empty()) one_of("schedule", machine_.schedule, {"interleaved", "blocked"});
    if (machine_.default_transport.empty()) add("default_transport", "name the transport of native_packed");
  }

  void provenance(const std::string& member, const std::string& source, const std::string& date) {
    if (source.empty()) add(member, "say where the figures are from: source");
    if (!is_date(date))
      add(member, fmt::format("date '{}' is not a day or a month such as 2026-11-30 or 2026-11", date));
  }

  void figure(const std::string& member, const Figure& figure, Sign sign) {
    const double value = figure.value;
    const bool fits =
        std::isfinite(value) && (sign == Sign::any || value > 0 || (sign == Sign::not_negative && value == 0));
    if (!fits) add(member, fmt::format("{} is not a {} number", core::number(value), sign_text(sign)));
    provenance(member, figure.source, figure.date);
  }

  static std::string_view sign_text(Sign sign) {
    switch (sign) {
      case Sign::positive: return "finite positive";
      case Sign::not_negative: return "finite, not negative";
      case Sign::any: break;
    }
    return "finite";
  }

  void check_counts() {
    if (const auto& count = machine_.multiprocessors) {
      if (count->value <= 0) add("multiprocessors", fmt::format("{} is not positive", count->value));
      provenance("multiprocessors", count->source, count->date);
    }
    if (const auto& tile = machine_.tile) {
      if (tile->m <= 0 || tile->n <= 0) add("tile", fmt::format("{} x {}: both must be positive", tile->m, tile->n));
      provenance("tile", tile->source, tile->date);
    }
  }

  void check_figures() {
    for (const auto& [member, value, sign] :
         {std::tuple("peak_rate", &machine_.peak_rate, Sign::positive),
          std::tuple("peak_link_rate", &machine_.peak_link_rate, Sign::positive),
          std::tuple("gemm_rate", &machine_.gemm_rate, Sign::positive),
          std::tuple("link_rate", &machine_.link_rate, Sign::positive),
          std::tuple("launch", &machine_.launch, Sign::not_negative), std::tuple("gap", &machine_.gap, Sign::any),
          std::tuple("barrier", &machine_.barrier, Sign::not_negative)})
      if (*value) figure(member, **value, sign);
    if (machine_.reorder) {
      figure("reorder.rate", machine_.reorder->rate, Sign::positive);
      figure("reorder.launch", machine_.reorder->launch, Sign::not_negative);
    }
    for (const auto& [member, factors] : {std::pair("push", &machine_.push), std::pair("pull", &machine_.pull)})
      if (*factors) {
        factor(fmt::format("{}.compute", member), (*factors)->compute);
        factor(fmt::format("{}.link", member), (*factors)->link);
      }
    if (machine_.link_rate && machine_.peak_link_rate && machine_.link_rate->value > machine_.peak_link_rate->value)
      add("link_rate", fmt::format("{} bytes/s is above the peak link rate {}", core::number(machine_.link_rate->value),
                                   core::number(machine_.peak_link_rate->value)));
    if (machine_.gemm_rate && machine_.peak_rate && machine_.gemm_rate->value > machine_.peak_rate->value)
      add("gemm_rate", fmt::format("{} FLOP/s is above the peak rate {}", core::number(machine_.gemm_rate->value),
                                   core::number(machine_.peak_rate->value)));
  }

  void factor(const std::string& member, const Figure& value) {
    figure(member, value, Sign::positive);
    if (value.value > 0 && (value.value < kLeastFactor || value.value > kMostFactor))
      add(member, fmt::format("{} is not within {} to {}", core::number(value.value), core::number(kLeastFactor),
                              core::number(kMostFactor)));
  }

  void check_table(const std::string& member, const GemmTable& table) {
    provenance(member, table.source, table.date);
    if (table.points.empty()) add(member, "a table needs at least one point");
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::optional<bool>>> seen;
    for (std::size_t i = 0; i < table.points.size(); ++i) {
      const GemmPoint& point = table.points[i];
      const std::string place = fmt::format("{}.points[{}]", member, i);
      if (point.m <= 0 || point.n <= 0 || point.k <= 0)
        add(place, fmt::format("sizes {} x {} x {} must be positive", point.m, point.n, point.k));
      check_seconds(place, point.seconds);
      if (!seen.emplace(point.m, point.n, point.k, point.weight_transposed).second)
        add(place, fmt::format("the shape {} x {} x {} is there twice", point.m, point.n, point.k));
    }
  }

  void check_seconds(const std::string& place, double seconds) {
    if (!(seconds > 0) || !std::isfinite(seconds))
      add(place, fmt::format("{} s is not a finite positive time", core::number(seconds)));
  }

  void check_curve(const std::string& member, const ExchangeCurve& curve) {
    provenance(member, curve.source, curve.date);
    if (curve.transport.empty()) add(member, "name the transport");
    if (curve.ranks < 2) add(member, fmt::format("{} ranks do not exchange: at least 2", curve.ranks));
    if (curve.points.empty()) add(member, "a curve needs at least one point");
    for (const ExchangeCurve& other : machine_.exchange) {
      if (&other == &curve) break;
      if (other.transport == curve.transport && other.ranks == curve.ranks)
        add(member, fmt::format("a second curve of {} among {} ranks", curve.transport, curve.ranks));
    }
    for (std::size_t i = 0; i < curve.points.size(); ++i)
      check_point(fmt::format("{}.points[{}]", member, i), curve, i);
  }

  void check_point(const std::string& place, const ExchangeCurve& curve, std::size_t i) {
    const ExchangePoint& point = curve.points[i];
    if (!(point.bytes > 0) || !std::isfinite(point.bytes))
      add(place, fmt::format("{} bytes is not a finite positive size", core::number(point.bytes)));
    check_seconds(place, point.seconds);
    if (i == 0) return;
    const ExchangePoint& before = curve.points[i - 1];
    if (point.bytes <= before.bytes)
      add(place, fmt::format("{} bytes after {}: sort the curve by bytes, one point a size", core::number(point.bytes),
                             core::number(before.bytes)));
    else if (point.seconds < before.seconds)
      add(place, fmt::format("{} s for more bytes than {} s took: an exchange of more bytes cannot be faster",
                             core::number(point.seconds), core::number(before.seconds)));
  }

  void check_cells() {
    for (std::size_t i = 0; i < machine_.cells.size(); ++i) {
      const CalibratedCell& cell = machine_.cells[i];
      const std::string place = fmt::format("cells[{}]", i);
      if (cell.model.empty()) add(place, "name the model");
      if (const auto reason = core::refusal(cell.problem)) add(place, *reason);
      for (const auto& [baseline, error] : cell.held_out)
        if (!(std::abs(error) <= 1))  // of a Delta that is a part of the baseline's time
          add(place, fmt::format("held-out error against {} is {}: it is a share of the baseline's time, -1 to 1",
                                 baseline, core::number(error)));
    }
    if (!machine_.cells.empty() && machine_.duty.empty()) add("duty", "say at which duty the cells were measured");
    if (!machine_.cells.empty() && machine_.schedule.empty())
      add("schedule", "say with which schedule the cells were measured");
  }

  const Machine& machine_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> violations(const Machine& machine) { return Checker(machine).run(); }

}  // namespace megaup::simulation
