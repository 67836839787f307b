// From the lexer's tokens to the parser's: newlines only where they end
// something, brackets balanced.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/syntax/Tokens.h"

#include <set>

namespace planc::syntax {

/// What the parser reads, ending in EOF. Where the filter has already reported
/// a mistake, the parser's own complaints would only repeat it.
struct FilteredTokens {
  std::vector<std::unique_ptr<antlr4::Token>> tokens;
  std::vector<source::SourceSpan> comments;

  /// Is a mistake at this token, or on its line, told already.
  bool isTold(const antlr4::Token &token) const;

  std::vector<std::pair<std::size_t, std::size_t>> toldRanges; ///< of indices
  std::set<std::size_t> toldLines;
};

/// Drops newlines inside `( )` and `[ ]`, after a comma, an operator or `{`,
/// and before `}`. Reports brackets left open or closing nothing, texts left
/// open, stray characters and points without digits; then gives what the parser
/// needs to go on. An open bracket ends at a line that starts a declaration.
FilteredTokens filterTokens(std::vector<std::unique_ptr<antlr4::Token>> lexed,
                            const TokenPlaces &places, diag::Emitter &emitter);

} // namespace planc::syntax
