#include <megaup/simulation/exchange_time.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace megaup::simulation {
namespace {

std::string existing_curves(const Machine& machine) {
  std::vector<std::string> names;
  for (const ExchangeCurve& curve : machine.exchange)
    names.push_back(fmt::format("{} of {} ranks", curve.transport, curve.ranks));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

double below_first(const ExchangeCurve& curve, double bytes) {
  const ExchangePoint &first = curve.points[0], &second = curve.points[1];
  const double slope = (second.seconds - first.seconds) / (second.bytes - first.bytes);
  const double start = std::max(first.seconds - slope * first.bytes, 0.0);
  return start + (first.seconds - start) * bytes / first.bytes;
}

}  // namespace

const ExchangeCurve* find_curve(const Machine& machine, std::string_view transport, std::int64_t ranks) {
  const auto found = std::ranges::find_if(machine.exchange, [&](const ExchangeCurve& curve) {
    return curve.transport == transport && curve.ranks == ranks;
  });
  return found == machine.exchange.end() ? nullptr : &*found;
}

double on_curve(const ExchangeCurve& curve, double bytes) {
  const auto& points = curve.points;
  if (points.size() > 1 && bytes < points.front().bytes) return below_first(curve, bytes);
  if (points.size() == 1 || bytes >= points.back().bytes) return points.back().seconds * bytes / points.back().bytes;
  const auto upper = std::ranges::upper_bound(points, bytes, {}, &ExchangePoint::bytes);
  const auto lower = std::prev(upper);
  const double part = std::log(bytes / lower->bytes) / std::log(upper->bytes / lower->bytes);
  return lower->seconds * std::pow(upper->seconds / lower->seconds, part);
}

Answer<Estimate> exchange_time(const Machine& machine, std::string_view transport, std::int64_t ranks, double bytes) {
  if (ranks == 1) return Estimate{0, "no exchange on one rank"};
  const ExchangeCurve* curve = find_curve(machine, transport, ranks);
  if (curve == nullptr || curve->points.empty())
    return Cannot{fmt::format("machine '{}' has no exchange curve of transport {} among {} ranks (it has: {})",
                              machine.name, transport, ranks, existing_curves(machine))};
  const double least = curve->points.front().bytes, most = curve->points.back().bytes;
  const std::string_view place = bytes < least ? "below the least point of" : bytes > most ? "beyond" : "on";
  return Estimate{on_curve(*curve, bytes),
                  fmt::format("{} exchange {} the curve of {} ranks ({})", transport, place, ranks, curve->source)};
}

}  // namespace megaup::simulation
