#include "compiler/compare/Table.h"

#include "compiler/compare/DiffWriters.h"
#include "runtime/report/BuildReport.h"

#include <algorithm>

namespace planc::compare {

namespace {

constexpr auto kKeys = std::to_array<std::string_view>({
#define PLANC_COMPARE_COLUMN(NAME, KEY, HEAD, FORM, BEST) KEY,
#include "compiler/compare/Columns.def"
});
enum class Best : std::uint8_t { Low, High };
constexpr auto kBest = std::to_array<Best>({
#define PLANC_COMPARE_COLUMN(NAME, KEY, HEAD, FORM, BEST) Best::BEST,
#include "compiler/compare/Columns.def"
});

std::string reasonOf(const driver::Session &session) {
  for (const diag::Diagnostic &diagnostic : session.diagnostics())
    if (diagnostic.severity() == diag::Severity::Error)
      return diagnostic.message;
  return "";
}

void fill(PlanRow &row, const report::Report &report, double pricePerHour) {
  const auto set = [&](Column column, std::optional<double> value) {
    row.values[static_cast<std::size_t>(column)] = value;
  };
  set(Column::Step, report::metric(report, "step_time", ""));
  set(Column::Mfu, report::metric(report, "mfu", ""));
  set(Column::Memory, report::metric(report, "memory", ""));
  if (report.bubble)
    set(Column::Bubble, report::metric(report, "bubble", ""));
  set(Column::Exposed, report::metric(report, "exposed", ""));
  set(Column::Accelerators, static_cast<double>(report.planned.accelerators));
  const double tokens =
      report::metric(report, "tokens_per_s_per_accelerator", "").value_or(0);
  set(Column::Tokens, tokens);
  constexpr double kTrillion = 1e12, kHour = 3600;
  if (tokens > 0) {
    const double hours = kTrillion / tokens / kHour;
    set(Column::HoursPerTrillion, hours);
    if (pricePerHour > 0)
      set(Column::CostPerTrillion, hours * pricePerHour);
  }
}

/// Money where every plan has a price, else hours.
Column costOf(const std::vector<PlanRow> &rows) {
  const bool isPriced =
      std::all_of(rows.begin(), rows.end(), [](const PlanRow &row) {
        return !row.fits || row[Column::CostPerTrillion];
      });
  return isPriced ? Column::CostPerTrillion : Column::HoursPerTrillion;
}

void markFront(std::vector<PlanRow> &rows) {
  const Column front[] = {Column::Step, Column::Memory, costOf(rows)};
  const auto beats = [&](const PlanRow &a, const PlanRow &b) {
    bool isBetter = false;
    for (Column column : front) {
      if (*a[column] > *b[column])
        return false;
      isBetter = isBetter || *a[column] < *b[column];
    }
    return isBetter;
  };
  for (PlanRow &row : rows)
    row.isOnFront =
        row.fits && std::none_of(rows.begin(), rows.end(), [&](auto &other) {
          return other.fits && beats(other, row);
        });
}

} // namespace

std::string_view keyOf(Column column) {
  return kKeys[static_cast<std::size_t>(column)];
}

std::optional<Column> columnFromKey(std::string_view key) {
  for (std::size_t i = 0; i < kColumnCount; ++i)
    if (kKeys[i] == key)
      return static_cast<Column>(i);
  return std::nullopt;
}

std::vector<std::string_view> columnKeys() {
  return {kKeys.begin(), kKeys.end()};
}

Table tableOf(const std::vector<SessionPtr> &sessions, Column by) {
  Table out;
  out.sortedBy = by;
  for (const SessionPtr &session : sessions) {
    PlanRow row;
    row.name = session->planName();
    row.file = session->options().file;
    row.status = statusOf(session.get());
    if (const report::Report *report = session->report()) {
      fill(row, *report, session->compilation().module->cluster.pricePerHour);
      row.fits = report->memory.fit != report::Fit::DoesNotFit;
    } else {
      row.reason = reasonOf(*session);
    }
    out.rows.push_back(std::move(row));
  }
  markFront(out.rows);
  const bool isHigh = kBest[static_cast<std::size_t>(by)] == Best::High;
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [&](const PlanRow &a, const PlanRow &b) {
                     const auto x = a[by], y = b[by];
                     if (!x || !y)
                       return x.has_value() > y.has_value();
                     return isHigh ? *x > *y : *x < *y;
                   });
  // Those without any number behind all that have some.
  std::stable_partition(
      out.rows.begin(), out.rows.end(),
      [](const PlanRow &row) { return row[Column::Step].has_value(); });
  return out;
}

} // namespace planc::compare
