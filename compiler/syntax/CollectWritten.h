// From ANTLR's parse tree of a file without syntax errors to its tokens.
#pragma once

#include "compiler/syntax/TokenFilter.h"
#include "compiler/syntax/Written.h"

#include "PlanParser.h"

namespace planc::syntax {

/// All but `file`. `tokens` are those that the tree was made of.
WrittenFile collectWritten(grammar::PlanParser::FileContext *tree,
                           const std::vector<antlr4::Token *> &tokens,
                           const std::vector<source::SourceSpan> &comments,
                           const TokenPlaces &places);

} // namespace planc::syntax
