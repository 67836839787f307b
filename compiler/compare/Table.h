// Many plans side by side.
#pragma once

#include "compiler/compare/Diff.h"
#include "runtime/report/Writers.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::compare {

/// What a row is sorted by and a column says. Step time, memory and cost are
/// what a front is made of.
enum class Column : std::uint8_t {
#define PLANC_COMPARE_COLUMN(NAME, KEY, HEAD, FORM, BEST) NAME,
#include "compiler/compare/Columns.def"
};
inline constexpr std::size_t kColumnCount =
    static_cast<std::size_t>(Column::CostPerTrillion) + 1;
std::string_view keyOf(Column column);
std::optional<Column> columnFromKey(std::string_view key);
std::vector<std::string_view> columnKeys();

struct PlanRow {
  std::string name, file, status;
  std::string reason; ///< the first error, where there is no report
  std::array<std::optional<double>, kColumnCount> values{};
  bool fits = false;
  /// No other plan that fits is better in one of the three and as good in the
  /// others.
  bool isOnFront = false;

  std::optional<double> operator[](Column column) const {
    return values[static_cast<std::size_t>(column)];
  }
};

struct Table {
  std::vector<PlanRow> rows; ///< sorted; those without numbers last
  Column sortedBy = Column::Step;
};

/// Rows of plans that were run: the best by `by` first, those alike in the
/// order given.
Table tableOf(const std::vector<SessionPtr> &sessions, Column by);

std::string toText(const Table &table, report::Color color);
std::string toMarkdown(const Table &table);
std::string toJson(const Table &table);
std::string toCsv(const Table &table);

} // namespace planc::compare
