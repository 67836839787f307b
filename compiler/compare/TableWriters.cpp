#include "compiler/compare/Table.h"

#include "runtime/report/JsonWriter.h"
#include "runtime/report/Page.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::compare {

using report::Mark;
using report::Page;

namespace {

struct ColumnInfo {
  std::string_view head;
  Form form;
};
constexpr auto kColumns = std::to_array<ColumnInfo>({
#define PLANC_COMPARE_COLUMN(NAME, KEY, HEAD, FORM, BEST) {HEAD, Form::FORM},
#include "compiler/compare/Columns.def"
});

std::string textOfCell(const PlanRow &row, std::size_t column) {
  const auto value = row.values[column];
  if (!value)
    return "–";
  if (kColumns[column].form == Form::Count && *value > 99999.5)
    return report::scaledCount(*value);
  return textOf(kColumns[column].form, *value);
}

/// Columns where some plan has a number. Hours say what tokens per second of
/// an accelerator do; files for programs have both.
std::vector<std::size_t> shownColumns(const Table &table) {
  std::vector<std::size_t> out;
  const auto has = [&](Column column) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const PlanRow &row) { return row[column]; });
  };
  for (std::size_t i = 0; i < kColumnCount; ++i) {
    const auto column = static_cast<Column>(i);
    if (has(column) && column != Column::HoursPerTrillion)
      out.push_back(i);
  }
  return out;
}

std::string verdictOf(const PlanRow &row) {
  if (row.status == "ok")
    return "fits";
  if (row.status == "infeasible")
    return "does not fit";
  if (row.status == "expectation_failed")
    return row.fits ? "fits, an expect fails" : "does not fit";
  return row.status;
}

bool severalFiles(const Table &table) {
  return std::any_of(
      table.rows.begin(), table.rows.end(),
      [&](const PlanRow &row) { return row.file != table.rows.front().file; });
}

std::string nameOf(const PlanRow &row, bool withFile) {
  const std::string name = row.name.empty() ? "(no plan)" : row.name;
  return withFile ? fmt::format("{} {}", name, row.file) : name;
}

std::string csvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (char c : text)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

} // namespace

std::string toText(const Table &table, report::Color color) {
  Page page(color);
  const std::vector<std::size_t> columns = shownColumns(table);
  const bool withFile = severalFiles(table);
  // Columns as wide as what they hold, the names in what is left.
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (std::size_t column : columns) {
    std::size_t width = report::columnsOf(kColumns[column].head);
    for (const PlanRow &row : table.rows)
      width = std::max(width, report::columnsOf(textOfCell(row, column)));
    widths.push_back(width + 2);
    total += width + 2;
  }
  std::size_t verdict = 0, name = 4;
  for (const PlanRow &row : table.rows) {
    if (row[Column::Step])
      verdict = std::max(verdict, report::columnsOf(verdictOf(row)) + 2);
    name = std::max(name, report::columnsOf(nameOf(row, withFile)));
  }
  constexpr std::size_t kMark = 2, kLeast = 8;
  const std::size_t used = kMark + total + verdict;
  name =
      std::min(name, report::kColumns > used + kLeast ? report::kColumns - used
                                                      : kLeast);
  page.to(kMark).put("plan");
  std::size_t at = kMark + name;
  for (std::size_t i = 0; i < columns.size(); ++i)
    page.right(kColumns[columns[i]].head, at += widths[i]);
  page.endLine();
  for (const PlanRow &row : table.rows) {
    if (row.isOnFront)
      page.put("▸", Mark::Good);
    page.to(kMark, 1).put(
        report::shortened(report::oneLine(nameOf(row, withFile)), name));
    if (!row[Column::Step]) {
      page.to(kMark + name).put(verdictOf(row), Mark::Bad);
      if (!row.reason.empty())
        page.put(": " + report::oneLine(row.reason));
      page.endLine();
      continue;
    }
    at = kMark + name;
    for (std::size_t i = 0; i < columns.size(); ++i)
      page.right(textOfCell(row, columns[i]), at += widths[i]);
    page.to(at + 2).put(verdictOf(row), row.fits ? Mark::None : Mark::Bad);
    page.endLine();
  }
  if (std::any_of(table.rows.begin(), table.rows.end(),
                  [](const PlanRow &row) { return row.isOnFront; })) {
    page.put("▸ no other plan that fits is better in step time, memory or cost "
             "and as good in the rest");
    page.endLine();
  }
  return page.take();
}

std::string toMarkdown(const Table &table) {
  const std::vector<std::size_t> columns = shownColumns(table);
  const bool withFile = severalFiles(table);
  std::string out = "| | plan |", line = "|---|---|";
  for (std::size_t column : columns) {
    out += fmt::format(" {} |", kColumns[column].head);
    line += "---:|";
  }
  out += " |\n" + line + "---|\n";
  for (const PlanRow &row : table.rows) {
    out += fmt::format("| {} | {} |", row.isOnFront ? "▸" : "",
                       report::cell(nameOf(row, withFile)));
    for (std::size_t column : columns)
      out += fmt::format(" {} |", textOfCell(row, column));
    out +=
        fmt::format(" {}{}{} |\n", verdictOf(row),
                    row.reason.empty() ? "" : ": ", report::cell(row.reason));
  }
  return out;
}

std::string toJson(const Table &table) {
  return report::written([&](report::Json &json) {
    json.integer("schema_version", report::kSchemaVersion);
    json.text("sorted_by", keyOf(table.sortedBy));
    json.array("plans", table.rows, [&](const PlanRow &row) {
      json.text("plan", row.name);
      json.text("file", row.file);
      json.text("status", row.status);
      json.text("reason", row.reason);
      json.boolean("fits", row.fits);
      json.boolean("on_front", row.isOnFront);
      for (std::size_t i = 0; i < kColumnCount; ++i) {
        const std::string_view key = keyOf(static_cast<Column>(i));
        if (row.values[i])
          json.number(key, *row.values[i]);
        else
          json.raw(key, "null");
      }
    });
  });
}

std::string toCsv(const Table &table) {
  std::string out = "plan,file,status,on_front";
  for (std::string_view key : columnKeys())
    out += "," + std::string(key);
  out += ",reason\n";
  for (const PlanRow &row : table.rows) {
    out += fmt::format("{},{},{},{}", csvCell(row.name), csvCell(row.file),
                       row.status, row.isOnFront ? "yes" : "no");
    for (const auto &value : row.values)
      out += "," + (value ? report::jsonNumber(*value) : std::string());
    out += "," + csvCell(row.reason) + "\n";
  }
  return out;
}

} // namespace planc::compare
