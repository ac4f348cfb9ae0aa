#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <megaup/core/text.hpp>
#include <megaup/experiments/machine_file.hpp>
#include <megaup/experiments/quantity.hpp>

namespace megaup::experiments {
namespace {

/// A text in double quotes: of what YAML would read in another way, only these occur in one line of UTF-8.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

/// A word without quotes where YAML takes it for one.
std::string word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.';
  };
  const bool safe = !text.empty() && text.front() != '-' && text.front() != '.' && std::ranges::all_of(text, plain);
  return safe && text != "null" && text != "Null" && text != "NULL" ? text : quoted(text);
}

std::string provenance(const std::string& source, const std::string& date) {
  return fmt::format("source: {}, date: {}", quoted(source), word(date));
}

std::string figure(std::string_view value, const std::string& source, const std::string& date) {
  return fmt::format("{{value: {}, {}}}", value, provenance(source, date));
}
std::string figure(const simulation::Figure& value, Dimension dimension) {
  return figure(quantity_text(value.value, dimension), value.source, value.date);
}
std::string factor(const simulation::Figure& value) {
  return figure(core::number(value.value), value.source, value.date);
}

std::string words(const simulation::Machine& machine) {
  std::string out = fmt::format("machine_version: 1\nname: {}\ndescription: {}\nfabric: {}\n", quoted(machine.name),
                                quoted(machine.description), word(machine.fabric));
  if (!machine.duty.empty()) out += fmt::format("duty: {}\n", word(machine.duty));
  if (!machine.schedule.empty()) out += fmt::format("schedule: {}\n", word(machine.schedule));
  return out + fmt::format("default_transport: {}\n", word(machine.default_transport));
}

std::string figures(const simulation::Machine& machine) {
  std::string out;
  if (const auto& sms = machine.multiprocessors)
    out += fmt::format("multiprocessors: {}\n", figure(fmt::format("{}", sms->value), sms->source, sms->date));
  if (const auto& tile = machine.tile)
    out += fmt::format("tile: {{m: {}, n: {}, {}}}\n", tile->m, tile->n, provenance(tile->source, tile->date));
  const auto add = [&](std::string_view key, const std::optional<simulation::Figure>& value, Dimension dimension) {
    if (value) out += fmt::format("{}: {}\n", key, figure(*value, dimension));
  };
  add("peak_rate", machine.peak_rate, Dimension::flop_rate);
  add("peak_link_rate", machine.peak_link_rate, Dimension::byte_rate);
  add("gemm_rate", machine.gemm_rate, Dimension::flop_rate);
  add("link_rate", machine.link_rate, Dimension::byte_rate);
  add("launch", machine.launch, Dimension::time);
  add("gap", machine.gap, Dimension::time);
  add("barrier", machine.barrier, Dimension::time);
  if (const auto& reorder = machine.reorder)
    out += fmt::format("reorder:\n  rate: {}\n  launch: {}\n", figure(reorder->rate, Dimension::byte_rate),
                       figure(reorder->launch, Dimension::time));
  const auto contention = [&](std::string_view key, const std::optional<simulation::Contention>& value) {
    if (value) out += fmt::format("{}:\n  compute: {}\n  link: {}\n", key, factor(value->compute), factor(value->link));
  };
  contention("push", machine.push);
  contention("pull", machine.pull);
  return out;
}

std::string tables(const simulation::Machine& machine) {
  std::string out;
  if (!machine.gemm.empty()) out += "gemm:\n";
  for (const auto& table : machine.gemm) {
    out += fmt::format("  - source: {}\n    date: {}\n    points:  # [m, n, k, weight transposed or not, time]\n",
                       quoted(table.source), word(table.date));
    for (const auto& p : table.points)
      out += fmt::format("      - [{}, {}, {}, {}, {}]\n", p.m, p.n, p.k,
                         !p.weight_transposed   ? "any"
                         : *p.weight_transposed ? "TN"
                                                : "NN",
                         quantity_text(p.seconds, Dimension::time));
  }
  if (!machine.exchange.empty()) out += "exchange:\n";
  for (const auto& curve : machine.exchange) {
    out += fmt::format(
        "  - transport: {}\n    ranks: {}\n    source: {}\n    date: {}\n    points:  # [buffer of one rank, time]\n",
        word(curve.transport), curve.ranks, quoted(curve.source), word(curve.date));
    for (const auto& p : curve.points)
      out += fmt::format("      - [{}, {}]\n", quantity_text(p.bytes, Dimension::bytes),
                         quantity_text(p.seconds, Dimension::time));
  }
  return out;
}

std::string cells(const simulation::Machine& machine) {
  std::string out;
  if (!machine.cells.empty()) out += "cells:\n";
  for (const auto& cell : machine.cells) {
    const core::Problem& p = cell.problem;
    out += fmt::format("  - file: {}\n    cell: {}\n    model: {}\n", quoted(cell.file), quoted(cell.cell),
                       quoted(cell.model));
    out += fmt::format(
        "    cp: {}\n    batch: {}\n    tokens_per_rank: {}\n    hidden: {}\n    query_heads: {}\n    kv_heads: {}\n"
        "    head_dim: {}\n    format: {}\n    sequence_order: {}\n    qkv_weight: {}\n    kv_replication: {}\n",
        p.P, p.B, p.M(), p.H, p.Hq, p.Hk, p.D, core::name(p.format), core::name(p.order), core::name(p.qkv_weight),
        p.kv_replication);
    std::vector<std::string> arms;
    for (const auto& arm : cell.arms) arms.push_back(word(arm));
    out += fmt::format("    arms: [{}]\n", fmt::join(arms, ", "));
    if (cell.held_out.empty()) continue;
    out += "    held_out:  # error of Delta, relative to the baseline\n";
    for (const auto& [arm, error] : cell.held_out) out += fmt::format("      {}: {}\n", word(arm), core::number(error));
  }
  return out;
}

}  // namespace

std::string machine_yaml(const simulation::Machine& machine) {
  return words(machine) + figures(machine) + tables(machine) + cells(machine);
}

}  // namespace megaup::experiments
