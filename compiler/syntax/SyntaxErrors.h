// ANTLR's failures put into planc's words, and where the parser goes on after
// one. None of ANTLR's own texts reaches a user.
#pragma once

#include "compiler/syntax/TokenFilter.h"

#include "PlanParser.h"

namespace planc::syntax {

/// Reports the first mistake of an item (a declaration, statement, field or
/// clause) and goes on with the next item, so that one mistake is one message.
class ErrorStrategy : public antlr4::ANTLRErrorStrategy {
public:
  ErrorStrategy(const FilteredTokens &filtered, const TokenPlaces &places,
                diag::Emitter &emitter)
      : filtered_(filtered), places_(places), emitter_(emitter) {}

  void reset(antlr4::Parser *) override { recovering_ = false; }
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void recover(antlr4::Parser *parser, std::exception_ptr e) override;
  void sync(antlr4::Parser *parser) override;
  bool inErrorRecoveryMode(antlr4::Parser *) override { return recovering_; }
  void reportMatch(antlr4::Parser *) override {}
  void reportError(antlr4::Parser *parser,
                   const antlr4::RecognitionException &e) override;

private:
  const FilteredTokens &filtered_;
  const TokenPlaces &places_;
  diag::Emitter &emitter_;
  bool recovering_ = false; ///< an error is on its way up to its item
};

} // namespace planc::syntax
