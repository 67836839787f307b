// From the text of rank programs back to the value: the inverse of
// program::toText.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"
#include "runtime/program/ProgramSet.h"

#include <optional>

namespace planc::syntax {

/// What a program text may have, at most; a plan's text is written by people, a
/// program's by planc.
inline constexpr std::size_t kMaxProgramBytes = 32u << 20;
inline constexpr std::size_t kMaxProgramTokens = 4'000'000;

/// Takes any bytes. Nothing if an error was reported: a mistake in the text,
/// each line's first; or, when the text reads well, what rules P1… of
/// program::verify are broken. Otherwise the set is sound, and toText of it
/// gives the text again but for comments, order of fields and defaults spelt
/// out. Places (OriginId) are not set.
std::optional<program::ProgramSet> readProgram(source::FileId file,
                                               const source::SourceSet &sources,
                                               diag::Emitter &emitter);

} // namespace planc::syntax
