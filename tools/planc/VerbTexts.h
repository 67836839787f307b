// Every verb and its options, in words.
#pragma once

#include "tools/planc/CommandLine.h"

namespace planc::tool {

/// As the help lists them; `calibrate` as its two halves besides.
std::vector<VerbText> verbTexts();

} // namespace planc::tool
