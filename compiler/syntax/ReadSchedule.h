// From the text of a schedule back to the value: the inverse of sim::toText.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"
#include "runtime/sim/IssueOrder.h"

#include <optional>

namespace planc::syntax {

/// Takes any bytes, up to the limits of ReadProgram.h. Nothing if an error was
/// reported: a mistake in the text, each line's first; or, when it reads well,
/// what of rules I1… of sim::verify is broken for this program. Otherwise the
/// order is sound, and toText of it gives the text again but for comments,
/// order of fields and defaults spelt out.
std::optional<sim::IssueOrder> readSchedule(source::FileId file,
                                            const source::SourceSet &sources,
                                            const program::ProgramSet &set,
                                            diag::Emitter &emitter);

} // namespace planc::syntax
