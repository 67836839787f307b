// What planc asks of ANTLR's tokens. Included only in compiler/syntax.
#pragma once

#include "compiler/source/SourceSet.h"

#include "PlanLexer.h"

#include <string>

namespace planc::syntax {

using grammar::PlanLexer;

/// May the token be a name: a word or a soft keyword.
inline bool isNameToken(std::size_t type) {
  return type == PlanLexer::WORD ||
         (type >= PlanLexer::LANGUAGE && type <= PlanLexer::WHERE);
}

inline bool isReservedToken(std::size_t type) {
  return type >= PlanLexer::IF && type <= PlanLexer::REST;
}

/// Does a newline after it end nothing.
bool continuesLine(std::size_t type);

/// May it be the first of an expression.
bool startsExpression(std::size_t type);

/// How messages call it: `model`, `the end of the line`, …
std::string describe(const antlr4::Token &token);
/// The same for a kind of token that is missing.
std::string describe(std::size_t type);

/// From ANTLR's positions, which count code points, to bytes.
class OffsetMap {
public:
  explicit OffsetMap(std::string_view text);
  std::uint32_t toByte(std::size_t codePoint) const;

private:
  bool ascii_;
  std::uint32_t size_;
  std::vector<std::uint32_t> starts_; ///< empty for ASCII
};

/// A file's tokens, and where they stand in it.
class TokenPlaces {
public:
  TokenPlaces(source::FileId file, std::string_view text,
              std::uint32_t skippedBytes)
      : file_(file), base_(skippedBytes), offsets_(text) {}

  source::SourceSpan span(const antlr4::Token &token) const {
    return span(token, token);
  }
  source::SourceSpan span(const antlr4::Token &first,
                          const antlr4::Token &last) const {
    std::uint32_t begin = base_ + offsets_.toByte(first.getStartIndex());
    std::uint32_t end = base_ + offsets_.toByte(last.getStopIndex() + 1);
    return {file_, begin, end < begin ? begin : end};
  }
  source::FileId file() const { return file_; }

private:
  source::FileId file_;
  std::uint32_t base_; ///< of a byte order mark ANTLR is not shown
  OffsetMap offsets_;
};

} // namespace planc::syntax
