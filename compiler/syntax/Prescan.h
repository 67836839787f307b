// A quick look at a file's bytes before ANTLR sees them: ANTLR recurses with
// nesting and is slow on garbage, so neither may reach it.
#pragma once

#include "compiler/diag/Emitter.h"
#include "compiler/source/SourceSet.h"

namespace planc::syntax {

/// How far files may go. A chain of operators counts one level each, since
/// every stage walks expressions recursively.
inline constexpr std::size_t kMaxNesting = 500;
inline constexpr std::size_t kMaxTokens = 200'000;
/// Characters that mean nothing, before the file is taken for something else.
inline constexpr std::size_t kMaxStrayCharacters = 200;

enum class PrescanVerdict { Fine, Refused };

/// Reports and refuses: bytes that are not UTF-8, control characters, more
/// stray characters, tokens or nesting than the limits above. A byte order mark
/// is let through.
PrescanVerdict prescan(source::FileId file, const source::SourceSet &sources,
                       diag::Emitter &emitter);

} // namespace planc::syntax
