// Items to lines: which blocks stay on one line, which columns items share.
#pragma once

#include "compiler/format/Line.h"
#include "compiler/syntax/Written.h"

namespace planc::format {

/// `text` is the file's whole text.
std::vector<Line> layOut(std::string_view text,
                         const syntax::WrittenFile &written);

} // namespace planc::format
