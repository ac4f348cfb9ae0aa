#include <megaup/analysis/long_csv.hpp>

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <megaup/analysis/csv_line.hpp>

namespace megaup::analysis {
namespace {

/// What every line of a cell begins with, without its end.
std::string beginning(const core::Record& header, const core::CellRecord& cell) {
  std::string out;
  CsvLine line(out);
  for (const std::string* text : {&header.path, &cell.id, &cell.model}) line.text(*text);
  line.count(cell.cp);
  line.count(cell.tokens_per_rank);
  for (const std::string* text : {&header.source, &header.fabric, &cell.status}) line.text(*text);
  return out;
}

std::string_view order_name(std::uint8_t order) { return order == 0 ? "initial" : order == 1 ? "reversed" : "unknown"; }

std::string block_lines(const core::CellRecord& cell, const std::string& start, std::size_t op, std::size_t arm,
                        std::size_t block) {
  std::string out;
  for (std::int64_t observation = 0; observation < cell.observations; ++observation)
    for (std::int64_t rank = 0; rank < cell.ranks; ++rank) {
      const double time = cell.latency[cell.index(op, arm, block, static_cast<std::size_t>(observation),
                                                  static_cast<std::size_t>(rank))];
      out += start;
      out += ',';
      CsvLine line(out);
      line.text(cell.operations[op]);
      line.text(cell.arms[arm]);
      line.count(static_cast<std::int64_t>(block));
      line.text(order_name(cell.order[block]));
      line.count(observation);
      line.count(rank);
      line.number(std::isnan(time) ? std::nullopt : std::optional(time));
      line.end();
    }
  return out;
}

}  // namespace

std::string long_csv_titles() {
  return "file,cell,model,cp,tokens_per_rank,source,fabric,status,operation,arm,block,order,observation,rank,latency_"
         "s\n";
}

core::Reason long_csv_cell(const core::Record& header, const core::CellRecord& cell,
                           const std::function<void(std::string_view)>& write) {
  if (!cell.fault.empty()) return cell.fault;
  if (cell.latency.empty() || cell.latency.size() != cell.index(cell.operations.size(), 0, 0, 0, 0))
    return cell.reason.empty() ? "it has no times" : fmt::format("it has no times: {}: {}", cell.status, cell.reason);
  const std::string start = beginning(header, cell);
  for (std::size_t op = 0; op < cell.operations.size(); ++op)
    for (std::size_t arm = 0; arm < cell.arms.size(); ++arm)
      for (std::size_t block = 0; block < cell.order.size(); ++block) write(block_lines(cell, start, op, arm, block));
  return {};
}

}  // namespace megaup::analysis
