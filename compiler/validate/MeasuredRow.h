// One measured run, as a table has it.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceFile.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::validate {

enum class Column : std::uint8_t {
#define PLANC_COLUMN(NAME, KEY, KIND) NAME,
#define PLANC_COLUMN_ALIAS(KEY, NAME, SCALE)
#include "compiler/validate/Columns.def"
};
inline constexpr std::size_t kColumns =
    static_cast<std::size_t>(Column::Note) + 1;

std::string_view nameOf(Column column);

/// A row of a table. Cells without a value (empty, `-`, `nan`, `n/a`) are
/// empty; numbers were looked at, and scaled, when the row was read.
struct MeasuredRow {
  std::array<std::string, kColumns> cells;
  std::array<std::optional<double>, kColumns> numbers;
  source::SourceSpan span;
  /// Why the row cannot be used: a value that is none; empty where it can.
  std::string problem;

  const std::string &text(Column column) const {
    return cells[static_cast<std::size_t>(column)];
  }
  bool has(Column column) const { return !text(column).empty(); }
  std::optional<double> number(Column column) const {
    return numbers[static_cast<std::size_t>(column)];
  }
  std::optional<std::int64_t> count(Column column) const {
    const auto value = number(column);
    return value ? std::optional(static_cast<std::int64_t>(*value))
                 : std::nullopt;
  }
};

/// The rows of a table (RFC 4180, Columns.def). What is wrong with a row is a
/// warning and its `problem`; what is wrong with the table an error, and
/// nothing. Rows without an id get one from their line; a second row of an id
/// gets a number after it.
std::optional<std::vector<MeasuredRow>> readRows(source::FileId id,
                                                 const source::SourceFile &file,
                                                 diag::Emitter &emitter);

} // namespace planc::validate
