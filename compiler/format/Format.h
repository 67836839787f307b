// The one style of .plan files.
//
// - Two spaces a level; one item a line in a block that the author broke, else
//   `{ a, b }` on one line. At most one blank line in a row, none at the ends
//   of a block.
// - Values of clauses stand 11 columns in; values of fields, `=` of
//   declarations and `over` of shards stand in one column as long as items of
//   one kind follow each other without a blank line; so do comments at the ends
//   of lines.
// - Inside ( ) and [ ] the author's breaks stay. What follows a break stands
//   under the first thing in the bracket, or two columns in where the bracket
//   ends its line.
// - Lines longer than kMaxColumns are broken after commas to kFillColumns, but
//   for the last of the new lines, which may fill kMaxColumns; a block on such
//   a line gets a line an item. What has no comma stays long. A cell after a
//   comma of such a line shares no column.
// - A line stays as its author broke it where a comment to planc
//   (`# planc: allow(…)`) on it or above it would no longer be about all of it.
// - No comma too many, LF line ends, one at the end. Every comment stays.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

#include <optional>
#include <string>

namespace planc::format {

inline constexpr std::size_t kMaxColumns = 120;
inline constexpr std::size_t kFillColumns = 100;

/// The file's text in the style; nothing after errors were reported. The result
/// was parsed again: it has the same tree, words and comments, or an internal
/// error is reported. Takes time linear in the text.
std::optional<std::string> format(source::FileId file,
                                  const source::SourceSet &sources,
                                  diag::Emitter &emitter);

} // namespace planc::format
