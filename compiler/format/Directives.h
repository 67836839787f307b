// Comments to planc itself (`# planc: allow(NAME) reason`) and the lines that
// they are about.
#pragma once

#include "compiler/format/Layout.h"

namespace planc::format {

struct Directive {
  KeptLine line; ///< its tokens
  /// The first and the last of its words but for brackets that end and braces,
  /// counted among all tokens that are no comments; equal: none.
  std::size_t firstWord = 0, endWord = 0;

  bool isAboutSomething() const { return firstWord != endWord; }
  bool isAboutSame(const Directive &other) const {
    return firstWord == other.firstWord && endWord == other.endWord;
  }
};

/// In the order of the comments. One is about its own line, or, where it has
/// the line to itself, about the next with code.
std::vector<Directive> readDirectives(std::string_view text,
                                      const syntax::WrittenFile &written);

} // namespace planc::format
