#include "compiler/syntax/SyntaxMessages.h"

#include "compiler/diag/Kinds.h"
#include <array>

namespace planc::syntax {

namespace {

using antlr4::Token;
using diag::Kind;
using grammar::PlanParser;
using source::SourceSpan;

struct Shape {
  std::size_t rule;
  std::size_t word;
  std::string_view text;
};

constexpr Shape kShapes[] = {
#define PLANC_SHAPE(RuleName, Word, Text)                                      \
  {PlanParser::Rule##RuleName, PlanParser::Word, Text},
#include "compiler/syntax/SyntaxMessages.def"
};

constexpr std::string_view kUnits[] = {
    "b",   "B",   "kb", "kB",   "Mb",    "MB",    "Gb",    "GB",
    "Tb",  "TB",  "PB", "KiB",  "MiB",   "GiB",   "TiB",   "PiB",
    "s",   "ms",  "us", "ns",   "ps",    "min",   "h",     "d",
    "W",   "kW",  "MW", "FLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP",
    "USD", "EUR", "Hz", "MHz",  "GHz"};

bool isUnit(std::string_view word) {
  for (std::string_view unit : kUnits)
    if (word == unit)
      return true;
  return false;
}

/// Is it one of the rules whose instances a block is made of.
bool isItemRule(std::size_t rule) {
  return rule == PlanParser::RuleTopLevel ||
         rule == PlanParser::RuleStatement || rule == PlanParser::RuleClause ||
         rule == PlanParser::RuleField || rule == PlanParser::RuleClusterItem ||
         rule == PlanParser::RuleOpClause || rule == PlanParser::RuleTargetItem;
}

/// The words an item of this block may start with, as the shapes list them.
std::vector<std::string_view> wordsOf(std::size_t rule) {
  std::vector<std::string_view> out;
  static const grammar::PlanLexer lexer(nullptr);
  static std::array<std::string, PlanParser::WHERE + 1> words = [] {
    std::array<std::string, PlanParser::WHERE + 1> all;
    for (std::size_t type = 1; type < all.size(); ++type) {
      std::string literal(lexer.getVocabulary().getLiteralName(type));
      all[type] = literal.substr(1, literal.size() - 2);
    }
    return all;
  }();
  for (const Shape &shape : kShapes)
    if (shape.rule == rule)
      out.push_back(words[shape.word]);
  return out;
}

/// Writes the report of one problem.
class Reporter {
public:
  Reporter(const Problem &problem, const TokenPlaces &places,
           diag::Emitter &emitter)
      : p_(problem), places_(places), emitter_(emitter) {
    expected_ = p_.expected;
    stepTo(p_.found->getTokenIndex());
    expectListItem();
  }

  void run() {
    if (reportUnitApart() || reportMisplacedBrace())
      return;
    if (p_.betweenItems)
      return reportBetweenItems();
    if (reportBatchUnit() || reportReserved() || reportSingleEquals() ||
        reportMissingComma() || reportStatement() || reportItemEnd())
      return;
    reportExpected();
  }

private:
  /// Looks at the token with this index as the one found.
  void stepTo(std::size_t index) {
    found_ = p_.stream->get(index);
    before_ = index > 0 ? p_.stream->get(index - 1) : nullptr;
    after_ =
        index + 1 < p_.stream->size() ? p_.stream->get(index + 1) : nullptr;
  }

  /// Lists may be empty or end in a comma, so the parser asks only for the
  /// bracket there; people mean an item.
  void expectListItem() {
    if (p_.betweenItems || !isInList() || !before_)
      return;
    std::size_t type = before_->getType();
    if (type != PlanParser::COMMA && type != PlanParser::LPAREN &&
        type != PlanParser::LBRACKET)
      return;
    expected_.add(PlanParser::WORD);
    if (rule() == PlanParser::RuleFormals)
      return;
    expected_.add(PlanParser::NUMBER);
    expected_.add(PlanParser::LPAREN);
  }

  std::size_t found() const { return found_->getType(); }
  bool expects(std::size_t type) const { return expected_.contains(type); }
  bool expectsExpression() const {
    return expects(PlanParser::NUMBER) && expects(PlanParser::LPAREN);
  }
  /// Nothing more stood on the line, whatever comes on the next.
  bool atEnd() const {
    bool closesNextLine = found() == PlanParser::RBRACE && before_ &&
                          before_->getLine() < found_->getLine();
    return found() == PlanParser::NEWLINE || found() == Token::EOF ||
           closesNextLine;
  }
  std::string foundWhat() const {
    if (atEnd() && found() != Token::EOF)
      return "the end of the line";
    return describe(*found_);
  }

  /// Where the found token stands; just after the one before it if a line or
  /// the file ended.
  SourceSpan foundSpan() const {
    if (!atEnd() || !before_)
      return places_.span(*found_);
    SourceSpan span = places_.span(*before_);
    return {span.file, span.end, span.end};
  }
  SourceSpan afterBefore() const {
    SourceSpan span = places_.span(*before_);
    return {span.file, span.end, span.end};
  }

  std::string afterWhat() const {
    if (!before_ || before_->getType() == PlanParser::NEWLINE)
      return "";
    return " after " + describe(*before_);
  }

  /// How the item that the problem is in, or just after, reads.
  const Shape *shape() const {
    antlr4::tree::ParseTree *at = p_.context;
    if (p_.betweenItems && !at->children.empty())
      at = at->children.back();
    for (; at; at = at->parent) {
      auto *context = dynamic_cast<antlr4::ParserRuleContext *>(at);
      if (!context || !context->start || !isItemRule(context->getRuleIndex()))
        continue;
      for (const Shape &shape : kShapes)
        if (shape.rule == context->getRuleIndex() &&
            shape.word == context->start->getType())
          return &shape;
      return nullptr;
    }
    return nullptr;
  }

  void addShape(diag::Builder &builder) const {
    if (const Shape *known = shape())
      builder.help("it reads `{}`", known->text);
  }

  /// The rule that wanted a name, where the problem is in a name.
  std::size_t rule() const {
    auto *context = p_.context;
    if (context->getRuleIndex() == PlanParser::RuleName && context->parent)
      context = dynamic_cast<antlr4::ParserRuleContext *>(context->parent);
    return context->getRuleIndex();
  }

  bool reportUnitApart() {
    if (!before_ || before_->getType() != PlanParser::NUMBER ||
        !isNameToken(found()) || !isUnit(found_->getText()) ||
        expects(PlanParser::WORD))
      return false;
    SourceSpan number = places_.span(*before_);
    SourceSpan unit = places_.span(*found_);
    std::string whole = found_->getText() + rateAfter();
    emitter_
        .report(unit, Kind::UnitApart,
                "the unit `{}` stands apart from its number", whole)
        .help("write `{}{}`", before_->getText(), whole)
        .fix({unit.file, number.end, unit.begin}, "");
    return true;
  }

  /// `/s` after `GB`.
  std::string rateAfter() const {
    std::size_t next = found_->getTokenIndex() + 2;
    if (!after_ || after_->getType() != PlanParser::SLASH ||
        next >= p_.stream->size() ||
        !isNameToken(p_.stream->get(next)->getType()))
      return "";
    return "/" + p_.stream->get(next)->getText();
  }

  bool reportMisplacedBrace() {
    bool here = p_.betweenItems && found() == PlanParser::LBRACE && !sameLine();
    bool next = found() == PlanParser::NEWLINE && expects(PlanParser::LBRACE) &&
                after_ && after_->getType() == PlanParser::LBRACE;
    if (!here && !next)
      return false;
    const Token &brace = here ? *found_ : *after_;
    emitter_
        .report(places_.span(brace), Kind::MisplacedBrace,
                "`{{` stands on a line of its own, and a newline ends what "
                "it belongs to")
        .help("move it to the end of the line before");
    return true;
  }

  bool sameLine() const {
    return before_ && before_->getType() != PlanParser::NEWLINE &&
           before_->getType() != PlanParser::COMMA &&
           before_->getType() != PlanParser::LBRACE;
  }

  void reportBetweenItems() {
    if (found() == PlanParser::ASSIGN && sameLine())
      return reportEquals();
    if (sameLine())
      return reportMissingSeparator();
    switch (p_.context->getRuleIndex()) {
    case PlanParser::RuleFile:
      return reportUnknownWord(Kind::UnknownDeclaration,
                               PlanParser::RuleTopLevel,
                               "does not start a declaration");
    case PlanParser::RuleClauseBlock:
      return reportUnknownWord(Kind::UnknownClause, PlanParser::RuleClause,
                               "is not a clause of a plan");
    case PlanParser::RuleStatementBlock:
      emitter_
          .report(foundSpan(), Kind::ExpectedStatement,
                  "expected a statement, found {}", describe(*found_))
          .help("a statement reads `NAME = VALUE`, or starts with `repeat`, "
                "`let`, `weight`, `input` or `return`");
      return;
    default:
      emitter_.report(foundSpan(), Kind::ExpectedName,
                      "expected the name of a field, found {}", foundWhat());
    }
  }

  void reportUnknownWord(Kind kind, std::size_t rule, std::string_view what) {
    std::vector<std::string_view> words = wordsOf(rule);
    std::string text = found_->getText();
    auto near = diag::nearestName(text, words);
    auto builder = emitter_.report(places_.span(*found_), kind, "{} {}",
                                   describe(*found_), what);
    if (near)
      builder.suggest(places_.span(*found_), near);
    else if (kind == Kind::UnknownDeclaration && isNameToken(found()) &&
             after_ && after_->getType() == PlanParser::ASSIGN)
      builder.help("a value with a name is a `let`: `let {} = …`", text);
    else
      builder.help("known are {}", joined(words));
  }

  static std::string joined(const std::vector<std::string_view> &words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i != 0)
        out += i + 1 == words.size() ? " and " : ", ";
      out.append("`").append(words[i]).append("`");
    }
    return out;
  }

  void reportMissingSeparator() {
    auto builder = emitter_.report(foundSpan(), Kind::MissingSeparator,
                                   "expected a new line or a comma{}, found {}",
                                   afterWhat(), foundWhat());
    addShape(builder);
  }

  bool reportBatchUnit() {
    if (rule() != PlanParser::RuleBatchPart &&
        rule() != PlanParser::RuleBatchLength)
      return false;
    if (expectsExpression())
      return false;
    auto builder = emitter_.report(
        foundSpan(), Kind::BatchUnit, "expected {}{}, found {}",
        expects(PlanParser::OF) ? "`of`" : "`sequences` or `tokens`",
        afterWhat(), foundWhat());
    addShape(builder);
    return true;
  }

  bool reportReserved() {
    if (!isReservedToken(found()) || !expects(PlanParser::WORD) ||
        expects(PlanParser::NEWLINE))
      return false;
    auto builder = emitter_.report(
        foundSpan(), Kind::ReservedWord,
        "`{}` is a reserved word and cannot be a name", found_->getText());
    builder.help("choose another name, such as `{}_`", found_->getText());
    return true;
  }

  bool reportSingleEquals() {
    bool inExpression = expects(PlanParser::EQUAL) ||
                        expects(PlanParser::THEN) || expects(PlanParser::ELSE);
    if (found() != PlanParser::ASSIGN || !inExpression)
      return false;
    reportEquals();
    return true;
  }

  void reportEquals() {
    emitter_
        .report(foundSpan(), Kind::SingleEquals,
                "`=` cannot stand in an expression")
        .help("two values are compared with `==`")
        .fix(foundSpan(), "==");
  }

  bool reportMissingComma() {
    bool closes = expects(PlanParser::RPAREN) || expects(PlanParser::RBRACKET);
    if (!closes || !startsExpression(found()) || !isInList())
      return false;
    emitter_
        .report(afterBefore(), Kind::MissingComma,
                "a comma is missing before {}", describe(*found_))
        .fix(afterBefore(), ",");
    return true;
  }

  bool isInList() const {
    return expects(PlanParser::COMMA) || rule() == PlanParser::RuleDimensions ||
           rule() == PlanParser::RuleArguments ||
           rule() == PlanParser::RuleFormals ||
           dynamic_cast<PlanParser::ListExprContext *>(p_.context) != nullptr;
  }

  /// `f(x)` alone: an assignment that stops after its first name.
  bool reportStatement() {
    if (p_.context->getRuleIndex() != PlanParser::RuleStatement ||
        !expects(PlanParser::ASSIGN) || !p_.context->start ||
        !isNameToken(p_.context->start->getType()))
      return false;
    emitter_
        .report(foundSpan(), Kind::ExpectedStatement,
                "expected `=`{}, found {}", afterWhat(), foundWhat())
        .help("a statement reads `NAME = VALUE`, or starts with `repeat`, "
              "`let`, `weight`, `input` or `return`");
    return true;
  }

  /// The item could have ended here.
  bool reportItemEnd() {
    if (!expects(PlanParser::NEWLINE) && !expects(Token::EOF))
      return false;
    reportMissingSeparator();
    return true;
  }

  void reportExpected() {
    // `shard heads, over tp`: the word expected now was taken for a name.
    bool tooEarly = before_ && isNameToken(before_->getType()) &&
                    expects(before_->getType()) && !expects(PlanParser::WORD);
    if (tooEarly) {
      stepTo(before_->getTokenIndex());
      auto builder = emitter_.report(foundSpan(), Kind::ExpectedName,
                                     "expected a name{}, found {}", afterWhat(),
                                     foundWhat());
      return addShape(builder);
    }
    Kind kind = Kind::ExpectedToken;
    std::string what;
    if (expectsExpression()) {
      kind = Kind::ExpectedExpression;
      what = "an expression";
    } else if (expects(PlanParser::WORD)) {
      kind = Kind::ExpectedName;
      what = "a name";
    } else {
      what = fixedTokens();
    }
    auto builder = emitter_.report(foundSpan(), kind, "expected {}{}, found {}",
                                   what, afterWhat(), foundWhat());
    addShape(builder);
  }

  /// "`then`, `=` or `{`": what is expected besides operators, with which
  /// every expression could go on.
  std::string fixedTokens() const {
    std::vector<std::string> words;
    for (ssize_t type : expected_.toList())
      if (!isOperator(static_cast<std::size_t>(type)))
        words.push_back(describe(static_cast<std::size_t>(type)));
    if (words.empty())
      return "an operator";
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i != 0)
        out += i + 1 == words.size() ? " or " : ", ";
      out += words[i];
    }
    return out;
  }

  static bool isOperator(std::size_t type) {
    switch (type) {
    case PlanParser::ASSIGN:
    case PlanParser::COMMA:
    case PlanParser::LBRACE:
    case PlanParser::ARROW:
    case PlanParser::BAR:
    case PlanParser::THEN:
    case PlanParser::ELSE:
    case PlanParser::IN_:
      return false;
    default:
      return continuesLine(type) || type == PlanParser::DOT;
    }
  }

  const Problem &p_;
  antlr4::misc::IntervalSet expected_;
  const Token *found_ = nullptr;
  const Token *before_ = nullptr; ///< null at the start of the file
  const Token *after_ = nullptr;  ///< null at its end
  const TokenPlaces &places_;
  diag::Emitter &emitter_;
};

} // namespace

void reportProblem(const Problem &problem, const TokenPlaces &places,
                   diag::Emitter &emitter) {
  Reporter(problem, places, emitter).run();
}

} // namespace planc::syntax
