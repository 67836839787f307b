#include "compiler/diag/Kinds.h"
#include "compiler/validate/Csv.h"
#include "compiler/validate/MeasuredRow.h"
#include "compiler/validate/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace planc::validate {

namespace {

enum class ValueKind { Text, Count, Whole, Real, Share };

struct ColumnInfo {
  std::string_view name;
  ValueKind kind;
};
constexpr std::array<ColumnInfo, kColumns> kInfos = {{
#define PLANC_COLUMN(NAME, KEY, KIND) {KEY, ValueKind::KIND},
#define PLANC_COLUMN_ALIAS(KEY, NAME, SCALE)
#include "compiler/validate/Columns.def"
}};

struct Alias {
  std::string_view name;
  Column column;
  double scale;
};
constexpr Alias kAliases[] = {
#define PLANC_COLUMN(NAME, KEY, KIND)
#define PLANC_COLUMN_ALIAS(KEY, NAME, SCALE) {KEY, Column::NAME, SCALE},
#include "compiler/validate/Columns.def"
};

/// What no number of a run passes, and a double holds exactly.
constexpr double kMost = 1e12;
constexpr double kPercent = 0.01;

std::size_t indexOf(Column column) { return static_cast<std::size_t>(column); }

struct Meaning {
  Column column;
  double scale;
};

std::optional<Meaning> meaningOf(std::string_view name) {
  const std::string key = wordOf(name);
  for (std::size_t i = 0; i < kColumns; ++i)
    if (kInfos[i].name == key)
      return Meaning{static_cast<Column>(i), 1};
  for (const Alias &alias : kAliases)
    if (alias.name == key)
      return Meaning{alias.column, alias.scale};
  return std::nullopt;
}

bool isNoValue(std::string_view text) {
  const std::string word = wordOf(text);
  return text.empty() || text == "-" || text == "–" || text == "?" ||
         word == "nan" || word == "n_a" || word == "na";
}

/// True where commas only set off three digits: `1,234.5`; not `1,5` nor
/// `0,125`, whose commas are decimal ones.
bool isGrouped(std::string_view text) {
  if (text.find(',') == std::string_view::npos)
    return true;
  const std::string_view whole =
      text.substr(0, text.find_first_not_of("0123456789,"));
  const std::size_t first = whole.find(',');
  if (first == 0 || first > 3 || whole[0] == '0' ||
      (whole.size() - first) % 4 != 0 ||
      text.find(',', whole.size()) != std::string_view::npos)
    return false;
  for (std::size_t i = first; i < whole.size(); ++i)
    if ((whole[i] == ',') != ((i - first) % 4 == 0))
      return false;
  return true;
}

/// A number, its digits in groups or not, if it is one.
std::optional<double> numberOf(std::string text) {
  if (!isGrouped(text))
    return std::nullopt;
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  double value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::string_view wantedBy(ValueKind kind) {
  switch (kind) {
  case ValueKind::Count:
    return "a whole number above zero";
  case ValueKind::Whole:
    return "a whole number";
  case ValueKind::Real:
    return "a number above zero";
  case ValueKind::Share:
    return "a share above zero and up to one, or in percent";
  case ValueKind::Text:
    break;
  }
  return "text";
}

bool isAllowed(ValueKind kind, double value) {
  if (std::abs(value) > kMost)
    return false;
  switch (kind) {
  case ValueKind::Count:
    return value >= 1 && value == std::floor(value);
  case ValueKind::Whole:
    return value >= 0 && value == std::floor(value);
  case ValueKind::Real:
  case ValueKind::Share:
    return value > 0;
  case ValueKind::Text:
    break;
  }
  return true;
}

/// The number of a cell in the unit of its column, if the column takes it.
std::optional<double> valueOf(std::string_view text, ValueKind kind,
                              double scale) {
  const bool isShare = kind == ValueKind::Share;
  if (isShare && !text.empty() && text.back() == '%') {
    text = trimmed(text.substr(0, text.size() - 1));
    scale = kPercent; // once, in a column of percent too
  }
  const std::optional<double> value = numberOf(std::string(text));
  if (!value || !isAllowed(kind, *value))
    return std::nullopt;
  // No share is above 1: it is in percent.
  if (isShare && *value > 1)
    scale = kPercent;
  const double scaled = *value * scale;
  return isShare && scaled > 1 ? std::nullopt : std::optional(scaled);
}

class Rows {
public:
  Rows(const source::SourceFile &file, diag::Emitter &emitter)
      : file_(&file), emitter_(&emitter) {}

  bool readHeader(const std::vector<CsvField> &header) {
    std::array<std::string, kColumns> seen;
    bool isSound = true;
    for (const CsvField &field : header) {
      const std::optional<Meaning> meaning = meaningOf(field.text);
      meanings_.push_back(meaning);
      if (!meaning) {
        warnUnknown(field);
        continue;
      }
      std::string &before = seen[indexOf(meaning->column)];
      if (!before.empty()) {
        emitter_->report(field.span, diag::Kind::ColumnTwice,
                         "`{}` and `{}` both mean `{}`", before, field.text,
                         nameOf(meaning->column));
        isSound = false;
      }
      before = field.text;
    }
    return isSound && hasMeasurement(seen, header);
  }

  MeasuredRow read(const std::vector<CsvField> &fields) {
    MeasuredRow row;
    row.span = fields.front().span;
    for (std::size_t i = 0; i < fields.size() && i < meanings_.size(); ++i)
      if (meanings_[i])
        readCell(fields[i], *meanings_[i], row);
    if (fields.size() > meanings_.size())
      refuse(fields[meanings_.size()],
             fmt::format("{} fields, the header has {} columns", fields.size(),
                         meanings_.size()),
             row);
    name(row);
    return row;
  }

private:
  void warnUnknown(const CsvField &field) {
    const std::string key = wordOf(field.text);
    std::vector<std::string_view> names;
    for (const ColumnInfo &info : kInfos)
      names.push_back(info.name);
    for (const Alias &alias : kAliases)
      names.push_back(alias.name);
    auto made =
        emitter_->report(field.span, diag::Kind::ColumnUnknown,
                         "`{}` is no column of measured runs", field.text);
    if (const auto near = diag::nearestName(key, names))
      made.help("did you mean `{}`?", *near);
  }

  bool hasMeasurement(const std::array<std::string, kColumns> &seen,
                      const std::vector<CsvField> &header) {
    for (std::size_t i = indexOf(Column::StepS); i < kColumns; ++i)
      if (kInfos[i].kind != ValueKind::Text && !seen[i].empty())
        return true;
    emitter_
        ->report(header.front().span, diag::Kind::ColumnMissing,
                 "no column says what was measured")
        .help("one of `step_s`, `tokens_s`, `samples_s`, `tflops`, `mfu`, "
              "`memory_gib`, `activations_gib`, `layer_forward_s`, "
              "`layer_backward_s` is wanted");
    return false;
  }

  void readCell(const CsvField &field, Meaning meaning, MeasuredRow &row) {
    const std::size_t at = indexOf(meaning.column);
    if (isNoValue(field.text))
      return;
    row.cells[at] = field.text;
    const ValueKind kind = kInfos[at].kind;
    if (kind == ValueKind::Text)
      return;
    row.numbers[at] = valueOf(field.text, kind, meaning.scale);
    if (row.numbers[at])
      return;
    refuse(field,
           fmt::format("`{}` is {}, found `{}`", nameOf(meaning.column),
                       wantedBy(kind), field.text.substr(0, 40)),
           row);
  }

  void refuse(const CsvField &field, const std::string &why, MeasuredRow &row) {
    if (row.problem.empty())
      row.problem = why;
    emitter_->report(field.span, diag::Kind::RowNotRead, "{}", why);
  }

  void name(MeasuredRow &row) {
    std::string &id = row.cells[indexOf(Column::Id)];
    if (id.empty())
      id = fmt::format("line-{}", file_->lineColumn(row.span.begin).line);
    const std::int64_t times = ++named_[id];
    if (times > 1)
      id += fmt::format("-{}", times);
  }

  const source::SourceFile *file_;
  diag::Emitter *emitter_;
  std::vector<std::optional<Meaning>> meanings_; ///< of each column written
  std::map<std::string, std::int64_t> named_;
};

} // namespace

std::string_view nameOf(Column column) { return kInfos[indexOf(column)].name; }

std::optional<std::vector<MeasuredRow>> readRows(source::FileId id,
                                                 const source::SourceFile &file,
                                                 diag::Emitter &emitter) {
  const std::optional<CsvTable> table = readCsv(id, file, emitter);
  if (!table)
    return std::nullopt;
  Rows rows(file, emitter);
  if (!rows.readHeader(table->header))
    return std::nullopt;
  std::vector<MeasuredRow> out;
  for (const std::vector<CsvField> &fields : table->rows)
    out.push_back(rows.read(fields));
  return out;
}

} // namespace planc::validate
