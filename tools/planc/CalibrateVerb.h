// The halves of `planc calibrate`.
#pragma once

#include "tools/planc/Verbs.h"

#include <string>

namespace planc::tool {

int runCalibrateStep(Arguments arguments);

/// All of a regular file's bytes; why not, else empty.
std::string readFile(const std::string &path, std::string &text);

} // namespace planc::tool
