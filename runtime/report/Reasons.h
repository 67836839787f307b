// A few words beside a row of the waterfall: what it is made of.
#pragma once

#include "runtime/report/Attribution.h"

namespace planc::report {

/// Sets report.reasons; everything else of the report is there.
void addReasons(Report &report, const Attribution &attribution);

} // namespace planc::report
