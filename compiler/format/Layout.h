// Items to lines: which blocks stay on one line, which columns items share.
#pragma once

#include "compiler/format/Line.h"
#include "compiler/syntax/Written.h"

namespace planc::format {

/// Tokens that share a line which stays as its author broke it.
struct KeptLine {
  std::size_t first = 0, last = 0;
};

/// `text` is the file's whole text. Items that have to do with a kept line keep
/// all of their lines, and share no column with others.
std::vector<Line> layOut(std::string_view text,
                         const syntax::WrittenFile &written,
                         const std::vector<KeptLine> &kept);

} // namespace planc::format
