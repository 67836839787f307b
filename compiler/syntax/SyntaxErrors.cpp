#include "compiler/syntax/SyntaxErrors.h"

#include "compiler/syntax/SyntaxMessages.h"

namespace planc::syntax {

namespace {

using antlr4::Parser;
using antlr4::Token;
using grammar::PlanParser;

/// Rules an error ends at: the parser goes on after them.
bool isItem(std::size_t rule) {
  switch (rule) {
  case PlanParser::RuleTopLevel:
  case PlanParser::RuleStatement:
  case PlanParser::RuleClause:
  case PlanParser::RuleField:
  case PlanParser::RuleClusterItem:
  case PlanParser::RuleTargetItem:
  case PlanParser::RuleOpClause:
    return true;
  default:
    return false;
  }
}

/// Rules that are nothing but items and separators.
bool isBlock(std::size_t rule) {
  switch (rule) {
  case PlanParser::RuleFile:
  case PlanParser::RuleFieldBlock:
  case PlanParser::RuleClusterBlock:
  case PlanParser::RuleTargetBlock:
  case PlanParser::RuleStatementBlock:
  case PlanParser::RuleOpBlock:
  case PlanParser::RuleClauseBlock:
    return true;
  default:
    return false;
  }
}

/// Goes to the newline or brace that ends an item begun at token `first`.
void skipItem(antlr4::TokenStream &stream, std::size_t first) {
  std::size_t depth = 0;
  for (std::size_t i = first; i < stream.index(); ++i) {
    std::size_t type = stream.get(i)->getType();
    depth += type == PlanParser::LBRACE;
    depth -= type == PlanParser::RBRACE && depth > 0;
  }
  while (stream.LA(1) != Token::EOF) {
    std::size_t type = stream.LA(1);
    // A brace on a line of its own belongs to what went wrong.
    bool ends =
        type == PlanParser::RBRACE ||
        (type == PlanParser::NEWLINE && stream.LA(2) != PlanParser::LBRACE);
    if (ends && depth == 0)
      return;
    depth += type == PlanParser::LBRACE;
    depth -= type == PlanParser::RBRACE;
    stream.consume();
  }
}

/// What could have stood where a prediction over several tokens failed.
antlr4::misc::IntervalSet expectedBy(Parser *parser,
                                     const antlr4::RecognitionException &e) {
  auto *noViable = dynamic_cast<const antlr4::NoViableAltException *>(&e);
  if (!noViable || !noViable->getDeadEndConfigs())
    return parser->getExpectedTokens();
  antlr4::misc::IntervalSet out;
  for (const auto &config : noViable->getDeadEndConfigs()->configs)
    for (const auto &transition : config->state->transitions)
      if (!transition->isEpsilon())
        out.addAll(transition->label());
  return out;
}

Problem problemAt(Parser *parser, const Token *found) {
  Problem problem;
  problem.found = found;
  problem.stream = parser->getTokenStream();
  problem.context = parser->getContext();
  return problem;
}

} // namespace

Token *ErrorStrategy::recoverInline(Parser *parser) {
  throw antlr4::InputMismatchException(parser);
}

void ErrorStrategy::reportError(Parser *parser,
                                const antlr4::RecognitionException &e) {
  if (recovering_)
    return;
  recovering_ = true;
  Problem problem = problemAt(parser, e.getOffendingToken());
  problem.expected = expectedBy(parser, e);
  if (!filtered_.isTold(*problem.found))
    reportProblem(problem, places_, emitter_);
}

void ErrorStrategy::recover(Parser *parser, std::exception_ptr e) {
  antlr4::ParserRuleContext *context = parser->getContext();
  std::size_t rule = context->getRuleIndex();
  if (!isItem(rule) && rule != PlanParser::RuleFile)
    std::rethrow_exception(e);
  skipItem(*parser->getTokenStream(), context->start->getTokenIndex());
  recovering_ = false;
}

void ErrorStrategy::sync(Parser *parser) {
  antlr4::ParserRuleContext *context = parser->getContext();
  if (!isBlock(context->getRuleIndex()))
    return;
  antlr4::TokenStream &stream = *parser->getTokenStream();
  Token *next = stream.LT(1);
  if (parser->getExpectedTokens().contains(next->getType()))
    return;
  Problem problem = problemAt(parser, next);
  problem.betweenItems = true;
  if (!filtered_.isTold(*next))
    reportProblem(problem, places_, emitter_);
  skipItem(stream, stream.index());
}

} // namespace planc::syntax
