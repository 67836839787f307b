// Comma-separated values (RFC 4180): fields that know where they stand.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceFile.h"

#include <string>
#include <vector>

namespace planc::validate {

struct CsvField {
  std::string text; ///< unquoted, without blanks at its ends
  source::SourceSpan span;
};

struct CsvTable {
  std::vector<CsvField> header;
  std::vector<std::vector<CsvField>> rows; ///< as long as they are written
};

/// What a table may have. A field of more bytes is no field of ours, and more
/// columns are no table of runs.
inline constexpr std::size_t kMostColumns = 512;
inline constexpr std::size_t kMostFieldBytes = 1u << 16;

/// The first row is the header. Lines that are blank or start with `#` are left
/// out, outside quotes. Stops at the first error, which is reported; nothing
/// then.
std::optional<CsvTable> readCsv(source::FileId id,
                                const source::SourceFile &file,
                                diag::Emitter &emitter);

/// A text as a field, quoted where it must be.
std::string csvField(std::string_view text);

} // namespace planc::validate
