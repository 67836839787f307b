#include "compiler/syntax/CollectWritten.h"

namespace planc::syntax {

namespace {

using antlr4::ParserRuleContext;
using antlr4::Token;
using antlr4::tree::ParseTree;
using antlr4::tree::TerminalNode;
using grammar::PlanParser;

TokenRole roleOf(std::size_t type) {
  switch (type) {
  case PlanLexer::LPAREN:
  case PlanLexer::LBRACKET:
    return TokenRole::Open;
  case PlanLexer::RPAREN:
  case PlanLexer::RBRACKET:
    return TokenRole::Close;
  case PlanLexer::LBRACE:
    return TokenRole::OpenBlock;
  case PlanLexer::RBRACE:
    return TokenRole::CloseBlock;
  case PlanLexer::COMMA:
    return TokenRole::Comma;
  case PlanLexer::DOT:
  case PlanLexer::RANGE:
    return TokenRole::Point;
  case PlanLexer::POWER:
  case PlanLexer::STAR:
  case PlanLexer::FLOOR_DIVIDE:
  case PlanLexer::SLASH:
  case PlanLexer::PLUS:
  case PlanLexer::MINUS:
  case PlanLexer::MOD:
  case PlanLexer::AND:
  case PlanLexer::OR:
    return TokenRole::Operator;
  case PlanLexer::THEN:
  case PlanLexer::ELSE:
    return TokenRole::Branch;
  default:
    return TokenRole::Word;
  }
}

/// Does a comma before it separate nothing.
bool endsList(std::size_t type) {
  return type == PlanLexer::RPAREN || type == PlanLexer::RBRACKET ||
         type == PlanLexer::BAR;
}

class Collector {
public:
  Collector(const std::vector<Token *> &tokens, const TokenPlaces &places)
      : tokens_(tokens), places_(places), roles_(tokens.size()),
        isLeftOut_(tokens.size(), false) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::size_t type = tokens[i]->getType();
      roles_[i] = roleOf(type);
      isLeftOut_[i] = type == PlanLexer::NEWLINE || type == Token::EOF ||
                      (type == PlanLexer::COMMA && i + 1 < tokens.size() &&
                       endsList(tokens[i + 1]->getType()));
    }
  }

  WrittenFile run(PlanParser::FileContext *tree,
                  const std::vector<source::SourceSpan> &comments) {
    WrittenFile out;
    walkChildren(tree, out.items);
    merge(comments, out.tokens);
    renumber(out.items);
    return out;
  }

private:
  using Items = std::vector<WrittenItem>;

  static std::size_t indexOf(ParseTree *node) {
    if (auto *terminal = dynamic_cast<TerminalNode *>(node))
      return terminal->getSymbol()->getTokenIndex();
    return dynamic_cast<ParserRuleContext *>(node)->start->getTokenIndex();
  }

  void walkChildren(ParserRuleContext *context, Items &items) {
    for (ParseTree *child : context->children)
      if (auto *rule = dynamic_cast<ParserRuleContext *>(child))
        walk(rule, items);
  }

  void walk(ParserRuleContext *context, Items &items) {
    switch (context->getRuleIndex()) {
    case PlanParser::RuleSeparator:
      isLeftOut_[context->start->getTokenIndex()] = true;
      return;
    case PlanParser::RuleTopLevel:
    case PlanParser::RuleClusterItem:
    case PlanParser::RuleTargetItem:
    case PlanParser::RuleField:
    case PlanParser::RuleStatement:
    case PlanParser::RuleOpClause:
    case PlanParser::RuleClause:
      takeItem(context, items);
      return;
    case PlanParser::RuleArguments:
    case PlanParser::RuleFormals:
      roles_[context->start->getTokenIndex()] = TokenRole::OpenTight;
      break;
    case PlanParser::RuleDimensions:
      takeDimensions(context->start->getTokenIndex());
      break;
    case PlanParser::RuleClusterReference:
      tightenOwn(context);
      break;
    case PlanParser::RuleExpr:
      if (dynamic_cast<PlanParser::SignExprContext *>(context))
        roles_[context->start->getTokenIndex()] = TokenRole::Sign;
      break;
    default:
      break;
    }
    walkChildren(context, items);
  }

  /// Of a name, or of a result: `-> [batch, seq]`.
  void takeDimensions(std::size_t open) {
    if (open > 0 && isNameToken(tokens_[open - 1]->getType()))
      roles_[open] = TokenRole::OpenTight;
  }

  /// Brackets that are the rule's own belong to the name before them.
  void tightenOwn(ParserRuleContext *context) {
    for (ParseTree *child : context->children)
      if (dynamic_cast<TerminalNode *>(child) &&
          roles_[indexOf(child)] == TokenRole::Open)
        roles_[indexOf(child)] = TokenRole::OpenTight;
  }

  void takeItem(ParserRuleContext *context, Items &items) {
    // `accelerator h100_sxm` of a cluster is a field.
    const bool isWrapped = context->children.size() == 1 &&
                           dynamic_cast<PlanParser::FieldContext *>(
                               context->children.front()) != nullptr;
    if (isWrapped)
      return walkChildren(context, items);
    if (dynamic_cast<PlanParser::RepeatStatementContext *>(context))
      tightenOwn(context);
    WrittenItem item;
    item.first = context->start->getTokenIndex();
    item.last = context->stop->getTokenIndex();
    item.kind = kindOf(context);
    item.cells = cellsOf(context, item.kind);
    if (roles_[item.last] == TokenRole::CloseBlock)
      item.open = openOf(context);
    walkChildren(context, item.items);
    items.push_back(std::move(item));
  }

  /// The `{` that the item's last token closes.
  static std::size_t openOf(ParserRuleContext *context) {
    ParserRuleContext *block = context;
    while (auto *last =
               dynamic_cast<ParserRuleContext *>(block->children.back()))
      block = last;
    return block->start->getTokenIndex();
  }

  template <class Context> static bool is(ParseTree *context) {
    return dynamic_cast<Context *>(context) != nullptr;
  }

  static ItemKind kindOf(ParserRuleContext *context) {
    if (is<PlanParser::LetDeclContext>(context))
      return ItemKind::Let;
    if (is<PlanParser::ParamDeclContext>(context))
      return ItemKind::Param;
    if (is<PlanParser::ModelInstanceContext>(context))
      return ItemKind::ModelInstance;
    if (is<PlanParser::PlanVariantContext>(context))
      return ItemKind::PlanVariant;
    if (is<PlanParser::ClusterLevelContext>(context))
      return ItemKind::Level;
    if (is<PlanParser::FieldContext>(context))
      return is<PlanParser::AcceleratorDeclContext>(context->parent->parent)
                 ? ItemKind::AcceleratorField
                 : ItemKind::Field;
    if (is<PlanParser::ShardClauseContext>(context))
      return ItemKind::ShardClause;
    if (is<PlanParser::ClauseContext>(context) &&
        !is<PlanParser::DropClauseContext>(context))
      return ItemKind::Clause;
    return ItemKind::Plain;
  }

  std::vector<std::size_t> cellsOf(ParserRuleContext *context, ItemKind kind) {
    switch (kind) {
    case ItemKind::Plain:
      return {};
    case ItemKind::Let:
    case ItemKind::ModelInstance:
    case ItemKind::PlanVariant:
      return ownOf(context, {PlanLexer::ASSIGN});
    case ItemKind::Param:
      return ownOf(context, {PlanLexer::ASSIGN, PlanLexer::IN_});
    case ItemKind::Level:
      return {indexOf(context->children[2]), indexOf(context->children.back())};
    case ItemKind::ShardClause:
      return {indexOf(context->children[1]), indexOf(context->children[2])};
    case ItemKind::AcceleratorField:
    case ItemKind::Field:
    case ItemKind::Clause:
      return {indexOf(context->children[1])};
    }
    return {};
  }

  /// Tokens of these types that are the rule's own.
  std::vector<std::size_t> ownOf(ParserRuleContext *context,
                                 std::initializer_list<std::size_t> types) {
    std::vector<std::size_t> out;
    for (ParseTree *child : context->children)
      if (is<TerminalNode>(child))
        for (std::size_t type : types)
          if (tokens_[indexOf(child)]->getType() == type)
            out.push_back(indexOf(child));
    return out;
  }

  /// Tokens and comments by where they stand; `places` gets the new numbers.
  void merge(const std::vector<source::SourceSpan> &comments,
             std::vector<WrittenToken> &out) {
    renumbered_.assign(tokens_.size(), 0);
    auto comment = comments.begin();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const source::SourceSpan span = places_.span(*tokens_[i]);
      const bool isEnd = tokens_[i]->getType() == Token::EOF;
      while (comment != comments.end() &&
             (isEnd || comment->begin < span.begin))
        out.push_back({*comment++, TokenRole::Comment});
      renumbered_[i] = out.size();
      if (!isLeftOut_[i])
        out.push_back({span, roles_[i]});
    }
  }

  void renumber(Items &items) {
    for (WrittenItem &item : items) {
      item.first = renumbered_[item.first];
      item.last = renumbered_[item.last];
      for (std::size_t &cell : item.cells)
        cell = renumbered_[cell];
      if (item.open != WrittenItem::kNone)
        item.open = renumbered_[item.open];
      renumber(item.items);
    }
  }

  const std::vector<Token *> &tokens_;
  const TokenPlaces &places_;
  std::vector<TokenRole> roles_;
  std::vector<bool> isLeftOut_;
  std::vector<std::size_t> renumbered_;
};

} // namespace

WrittenFile collectWritten(PlanParser::FileContext *tree,
                           const std::vector<Token *> &tokens,
                           const std::vector<source::SourceSpan> &comments,
                           const TokenPlaces &places) {
  return Collector(tokens, places).run(tree, comments);
}

} // namespace planc::syntax
