// From a finished compile to its report.
#pragma once

#include "compiler/driver/Compilation.h"
#include "runtime/report/BuildReport.h"

namespace planc::driver {

/// Needs everything of `compilation` but the report.
report::Report makeReport(const Compilation &compilation,
                          const Options &options);

/// The file, line and text an origin points at, its own place first.
report::ResolvedLine resolve(const Compilation &compilation, OriginId origin);

} // namespace planc::driver
