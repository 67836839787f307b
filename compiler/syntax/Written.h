// A file as it was written: every token and comment, and which of them belong
// together. For whoever writes the text anew; meaning is the AST's.
#pragma once

#include "compiler/ast/Ast.h"
#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

#include <limits>
#include <optional>
#include <vector>

namespace planc::syntax {

/// What a token is to its neighbours.
enum class TokenRole : std::uint8_t {
  Word,      ///< stands by itself: a name, a number, `=`, …
  Operator,  ///< of arithmetic or logic, between two operands
  Branch,    ///< `then`, `else`
  Open,      ///< `(` or `[` that begins a value
  OpenTight, ///< `(` or `[` that belongs to the name before it
  Close,
  OpenBlock, ///< `{`
  CloseBlock,
  Comma, ///< inside a list
  Point, ///< `.` and `..`
  Sign,  ///< `+` or `-` before one operand
  Comment,
};

struct WrittenToken {
  source::SourceSpan span;
  TokenRole role = TokenRole::Word;
};

/// What separators separate.
enum class ItemKind : std::uint8_t {
  Plain, ///< declarations and statements of no other kind
  Let,   ///< of a file
  Param,
  ModelInstance,
  PlanVariant,
  AcceleratorField,
  Field,
  Level,
  Clause,
  ShardClause,
};

/// `tokens[first .. last]`. `cells` are the tokens that files align among items
/// of one kind: the `=` of a `let`, the value of a field, `over` of a `shard`.
struct WrittenItem {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  ItemKind kind = ItemKind::Plain;
  std::size_t first = 0, last = 0;
  std::vector<std::size_t> cells;   ///< in order; at most two
  std::size_t open = kNone;         ///< its `{`; then `last` is the `}`
  std::vector<WrittenItem> items{}; ///< between the two
};

/// Separators and commas too many are left out.
struct WrittenFile {
  const ast::File *file = nullptr;
  std::vector<WrittenToken> tokens; ///< in the order written
  std::vector<WrittenItem> items;
};

/// As parseFile(); nothing where that is null.
std::optional<WrittenFile> parseWritten(source::FileId file,
                                        const source::SourceSet &sources,
                                        ast::Arena &arena,
                                        diag::Emitter &emitter);

} // namespace planc::syntax
