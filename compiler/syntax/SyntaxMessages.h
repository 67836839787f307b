// From what the parser expected and found to a sentence.
#pragma once

#include "compiler/syntax/Tokens.h"

#include "PlanParser.h"

#include "compiler/diag/Emitter.h"

namespace planc::syntax {

/// One failure of the parser.
struct Problem {
  const antlr4::Token *found = nullptr;
  antlr4::TokenStream *stream = nullptr; ///< read to its end
  antlr4::misc::IntervalSet expected;    ///< tokens that could have stood there
  antlr4::ParserRuleContext *context = nullptr; ///< innermost
  bool betweenItems = false; ///< where a separator or a new item should be
};

void reportProblem(const Problem &problem, const TokenPlaces &places,
                   diag::Emitter &emitter);

} // namespace planc::syntax
