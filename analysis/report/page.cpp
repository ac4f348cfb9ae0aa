#include <megaup/analysis/report/page.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <megaup/analysis/number.hpp>
#include <megaup/analysis/report/page_row.hpp>
#include <megaup/core/version.hpp>

namespace megaup::analysis {
namespace {

using Json = nlohmann::ordered_json;

std::string_view file_bytes(std::string_view name) {
  for (const core::EmbeddedFile& file : report_files())
    if (file.name == name) return file.bytes;
  throw std::logic_error(fmt::format("the program was built without {}", name));
}

/// Inside a script element only '<' could end it; in JSON it can be written as an escape anywhere it may stand.
std::string inside_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (const char character : json)
    if (character == '<')
      out += "\\u003c";
    else
      out += character;
  return out;
}

/// The template with each @name@ replaced once.
std::string fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string out;
  for (const auto& [name, value] : values) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) throw std::logic_error(fmt::format("page.html has no {}", name));
    out.append(text.substr(0, at)).append(value);
    text.remove_prefix(at + name.size());
  }
  return out.append(text);
}

std::string count_of(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string headline_of(const std::vector<Row>& rows) {
  std::size_t saves = 0, compared = 0, judged = 0, benefits = 0, gaps = 0, simulated = 0;
  std::set<std::string> candidates;
  for (const Row& row : rows) {
    candidates.insert(row.candidate);
    if (row.source == "simulated") {  // counted apart from what was measured
      ++simulated;
      continue;
    }
    gaps += row.delta ? 0 : 1;
    compared += row.delta ? 1 : 0;
    saves += budget_ms(row) ? 1 : 0;
    judged += row.conclusion.interval_ms ? 1 : 0;
    benefits += row.conclusion.verdict && row.conclusion.verdict->kind == VerdictKind::benefit ? 1 : 0;
  }
  if (rows.empty()) return "There are no cells";
  if (simulated == rows.size())
    return fmt::format("{}, all simulated", count_of(simulated, "configuration", "configurations"));
  if (compared == 0)
    return fmt::format("None of {} could be compared", count_of(gaps, "configuration", "configurations"));
  const std::string who = candidates.size() == 1 ? fmt::format("The {} arm", *candidates.begin()) : "The candidate";
  std::string text =
      fmt::format("{} saves time in {} of {}", who, saves, count_of(compared, "configuration", "configurations"));
  if (judged > 0) text += fmt::format("; in {} it is a clear benefit", benefits);
  if (gaps > 0) text += fmt::format("; {} could not be compared", gaps);
  if (simulated > 0) text += fmt::format("; {} more are simulated", simulated);
  return text;
}

/// Every value of a column once, in the order of the rows (numbers ascending), at most eight of them.
template <class Of>
std::string values_of(const std::vector<Row>& rows, Of&& of) {
  std::set<std::decay_t<decltype(of(rows.front()))>> values;
  for (const Row& row : rows) values.insert(of(row));
  std::string text;
  std::size_t shown = 0;
  for (const auto& value : values) {
    if (shown++ == 8) return text + fmt::format(" and {} more", values.size() - 8);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
  }
  return text;
}

std::string inputs_text(const Analysis& analysis, std::string Input::*member) {
  std::set<std::string> values;
  for (const Input& input : analysis.files)
    if (!(input.*member).empty()) values.insert(input.*member);
  return fmt::format("{}", fmt::join(values, ", "));
}

Json configuration(const Analysis& analysis) {
  Json list = Json::array();
  const auto add = [&](const char* title, std::string text) {
    if (!text.empty()) list.push_back({title, std::move(text)});
  };
  add("Device", inputs_text(analysis, &Input::device));
  add("Host", inputs_text(analysis, &Input::host));
  if (!analysis.rows.empty()) {
    const std::vector<Row>& rows = analysis.rows;
    add("Precision", values_of(rows, [](const Row& row) { return row.dtype; }));
    add("Batch B", values_of(rows, [](const Row& row) { return row.batch; }));
    add("Head size D", values_of(rows, [](const Row& row) { return row.head_dim; }));
    add("TP", "1");  // the operations have no tensor parallelism
    add("CP", values_of(rows, [](const Row& row) { return row.cp; }));
    add("Tokens a rank M", values_of(rows, [](const Row& row) { return row.tokens_per_rank; }));
    add("Fabric", values_of(rows, [](const Row& row) { return row.fabric; }));
    add("Blocks", values_of(rows, [](const Row& row) { return row.statistics.blocks; }));
  }
  return list;
}

Json files_json(const Analysis& analysis) {
  Json files = Json::array();
  for (const Input& input : analysis.files) {
    const auto rows = std::count_if(analysis.rows.begin(), analysis.rows.end(),
                                    [&](const Row& row) { return row.file == input.path; });
    const auto whole = std::count_if(analysis.rows.begin(), analysis.rows.end(),
                                     [&](const Row& row) { return row.file == input.path && row.delta; });
    files.push_back(
        {{"path", input.path},
         {"texts",
          {input.path, fmt::format("{} of {}", whole, rows), input.source, input.fabric, input.host, input.device,
           input.communicator, input.created, input.megaup_version, input.git.substr(0, 12)}}});
  }
  return files;
}

/// Everything but the rows and what differs from page to page.
Json frame(const Analysis& analysis) {
  std::string newest;
  for (const Input& input : analysis.files) newest = std::max(newest, input.created);
  return {
      {"made", newest.empty() ? "no file" : "measured " + newest},
      {"headline", headline_of(analysis.rows)},
      {"candidates",
       analysis.rows.empty() ? "fused" : values_of(analysis.rows, [](const Row& row) { return row.candidate; })},
      {"h", analysis.assumptions.h_ms.value_or(0)},
      {"configuration", configuration(analysis)},
      {"notes", notes(analysis)},
      {"file_columns",
       {"file", "rows with a Delta", "source", "fabric", "host", "device", "communicator", "created", "megaup", "git"}},
      {"files", files_json(analysis)},
      {"colophon",
       fmt::format(
           "Written by megaup {} ({}). All times in milliseconds; numbers as in analyze --format json, rounded.",
           core::version(), core::git_commit())}};
}

/// "page.html", 2 -> "page-2.html"
std::string part_name(const std::string& name, std::size_t part) {
  if (part == 0) return name;
  const std::size_t dot = name.rfind('.');
  const std::size_t end = dot == std::string::npos || dot == 0 ? name.size() : dot;
  return fmt::format("{}-{}{}", name.substr(0, end), part + 1, name.substr(end));
}

/// First row of each page.
std::vector<std::size_t> cuts(const std::vector<std::string>& rows, std::size_t room) {
  std::vector<std::size_t> starts{0};
  std::size_t used = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t bytes = rows[i].size() + 2;
    if (used > 0 && used + bytes > room) {
      starts.push_back(i);
      used = 0;
    }
    used += bytes;
  }
  return starts;
}

}  // namespace

std::vector<Page> report_pages(const Analysis& analysis, const std::string& name, std::size_t limit) {
  std::vector<std::string> rows;
  for (const Row& row : analysis.rows) {
    const auto file = std::find_if(analysis.files.begin(), analysis.files.end(),
                                   [&](const Input& input) { return input.path == row.file; });
    rows.push_back(inside_script(page_row(row, static_cast<std::size_t>(file - analysis.files.begin()))));
  }
  Json head = frame(analysis);
  const std::string_view html = file_bytes("page.html"), css = file_bytes("page.css"), js = file_bytes("page.js");
  const std::size_t fixed =
      html.size() + css.size() + js.size() + head.dump(-1, ' ', false, Json::error_handler_t::replace).size() + 4096;
  const auto starts = cuts(rows, limit > fixed ? limit - fixed : 1);

  Json names = Json::array();
  for (std::size_t part = 0; part < starts.size(); ++part) names.push_back(part_name(name, part));
  std::vector<Page> pages;
  for (std::size_t part = 0; part < starts.size(); ++part) {
    const std::size_t first = starts[part], last = part + 1 < starts.size() ? starts[part + 1] : rows.size();
    head["part"] = part;
    head["parts"] = names;
    head["part_words"] = fmt::format(
        "Rows {} to {} of {}: one page holds no more; filters and scale are those of each page. The others:", first + 1,
        last, rows.size());
    std::string data = inside_script(head.dump(-1, ' ', false, Json::error_handler_t::replace));
    data.pop_back();  // the closing brace comes after the rows
    data += ",\"rows\":[\n";
    for (std::size_t i = first; i < last; ++i) data += rows[i] + (i + 1 < last ? ",\n" : "\n");
    data += "]}";
    pages.push_back({part_name(name, part), fill(html, {{"@page.css@", css}, {"@data@", data}, {"@page.js@", js}})});
  }
  return pages;
}

}  // namespace megaup::analysis
