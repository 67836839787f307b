// What a file's tokens take on a line, and where their author broke lines.
#pragma once

#include "compiler/format/Line.h"
#include "compiler/syntax/Written.h"

namespace planc::format {

/// Is there a space between neighbours on one line.
bool isSpaced(syntax::TokenRole before, syntax::TokenRole after);

class Measure {
public:
  Measure(std::string_view text, const syntax::WrittenFile &written);

  std::string_view text(std::size_t token) const;
  syntax::TokenRole role(std::size_t token) const {
    return written_->tokens[token].role;
  }
  bool isComment(std::size_t token) const {
    return role(token) == syntax::TokenRole::Comment;
  }
  /// Line ends between a token and the one before it, comment or not.
  std::size_t lineEnds(std::size_t token) const { return lineEnds_[token]; }
  /// Does the line stay broken before the token.
  bool isBroken(std::size_t token) const { return isBroken_[token]; }
  /// May lines that are too long be broken before a token of
  /// `tokens[first + 1 .. last]`.
  bool hasPlace(std::size_t first, std::size_t last) const {
    return places_[last + 1] - places_[first + 1] != 0;
  }
  /// Is the token first of an item after the first of its block.
  bool isSeparated(std::size_t token) const { return isSeparated_[token]; }

  /// Columns of `tokens[first .. last]` on one line.
  std::size_t width(std::size_t first, std::size_t last) const {
    return starts_[last] + sizes_[last] - starts_[first];
  }
  /// Is there a comment or a break between two tokens.
  bool hasBreak(std::size_t first, std::size_t last) const {
    return breaks_[last + 1] - breaks_[first + 1] != 0;
  }
  /// The same outside of ( ) and [ ].
  bool hasOuterBreak(std::size_t first, std::size_t last) const {
    return outerBreaks_[last + 1] - outerBreaks_[first + 1] != 0;
  }

private:
  void findBreaks();
  void findSeparated(const std::vector<syntax::WrittenItem> &items);
  void addUp();

  std::string_view text_;
  const syntax::WrittenFile *written_;
  std::vector<std::size_t> lineEnds_, starts_, sizes_;
  /// Before each token; sums.
  std::vector<std::size_t> breaks_, outerBreaks_, places_;
  std::vector<bool> isBroken_, isSeparated_;
};

} // namespace planc::format
