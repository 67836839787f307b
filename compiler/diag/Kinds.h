// Every kind of diagnostic as an enumerator of diag::Kind.
#pragma once

#include "compiler/diag/Diagnostic.h"

namespace planc::diag {

enum class Kind : std::uint16_t {
#define PLANC_DIAGNOSTIC_KIND(Name, Kebab, Severity, Failure, Stage, Page) Name,
#include "compiler/diag/DiagnosticKinds.def"
};

} // namespace planc::diag
