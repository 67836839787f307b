// What pictures and pages show besides the report.
#pragma once

#include "compiler/driver/Compilation.h"
#include "runtime/program/MemoryCurve.h"
#include "runtime/report/HtmlReport.h"
#include "runtime/report/Picture.h"

#include <vector>

namespace planc::driver {

/// By class of ranks; with what the chosen order holds besides, all along.
std::vector<program::MemoryCurve> memoryCurves(const Compilation &compilation);

/// The chosen order's last step. After a whole compile.
report::Picture makePicture(const Compilation &compilation,
                            const Options &options);

/// Fields of the accelerator and the cluster, as they are written, each with
/// the comment beside it, else the one above it or above those before it.
std::vector<report::Assumption> assumptionsOf(const Compilation &compilation);

} // namespace planc::driver
