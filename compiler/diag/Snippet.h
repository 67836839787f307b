// One line of source with the places in it marked, as the console shows it.
#pragma once

#include "compiler/diag/Diagnostic.h"

#include <string_view>

namespace planc::diag {

/// A range of bytes of the line, with what to say beside it ("" for nothing).
struct Mark {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view text;
};

struct Snippet {
  std::string line;               ///< printable, without a line break
  std::vector<std::string> below; ///< carets, then texts that had no room
};

/// `marks` in any order. Where the line is long, what stands around the first
/// mark is shown, with `…` for the rest.
Snippet makeSnippet(std::string_view line, std::vector<Mark> marks);

} // namespace planc::diag
