// ANTLR over the text of rank programs: what stands in which line, not yet what
// it means.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/syntax/Tokens.h"

#include "ProgramTextLexer.h"
#include "ProgramTextParser.h"

#include <memory>
#include <string>
#include <vector>

namespace planc::syntax {

using grammar::ProgramTextParser;

/// The syntax tree of one text, with everything it hangs on.
class ProgramSyntax {
public:
  ProgramSyntax(source::FileId file, const source::SourceSet &sources,
                diag::Emitter &emitter);

  enum class Head : std::uint8_t { Program, Schedule };

  /// Null after an error; a text of the other head is one.
  ProgramTextParser::WholeContext *parse(Head head);

  source::SourceSpan span(const antlr4::Token *token) const {
    return places_.span(*token);
  }
  /// The bytes of a token.
  std::string_view text(const antlr4::Token *token) const {
    return sources_.text(span(token));
  }

private:
  bool readTokens();

  const source::SourceSet &sources_;
  diag::Emitter &emitter_;
  std::string_view text_; ///< without a byte order mark
  TokenPlaces places_;
  antlr4::ANTLRInputStream input_;
  grammar::ProgramTextLexer lexer_;
  std::unique_ptr<antlr4::ListTokenSource> list_;
  std::unique_ptr<antlr4::CommonTokenStream> stream_;
  std::unique_ptr<ProgramTextParser> parser_;
};

/// False after an error: more than a program may have, or no UTF-8.
bool isReadable(source::FileId file, const source::SourceSet &sources,
                diag::Emitter &emitter);

/// The first broken rule, and some of the others. There is one.
void reportRules(const std::vector<std::string> &broken,
                 source::SourceSpan span, diag::Emitter &emitter);

/// A first word of a line that is none of those known.
void reportWord(const ProgramSyntax &syntax, const antlr4::Token *word,
                std::string_view what,
                const std::vector<std::string_view> &known,
                diag::Emitter &emitter);

} // namespace planc::syntax
