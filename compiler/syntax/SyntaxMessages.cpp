#include "compiler/syntax/SyntaxMessages.h"

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

/// The words an item of this block may start with, as the shapes list them.
std::vector<std::string_view> wordsOf(std::size_t rule) {
  std::vector<std::string_view> out;
  static const grammar::PlanLexer lexer(nullptr);
  static std::array<std::string, PlanParser::WHERE + 1> words = [] {
    std::array<std::string, PlanParser::WHERE + 1> all;
    for (std::size_t type = 1; type < all.size(); ++type) {
      std::string literal = lexer.getVocabulary().getLiteralName(type);
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
      : p_(problem), places_(places), emitter_(emitter) {}

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
  std::size_t found() const { return p_.found->getType(); }
  bool expects(std::size_t type) const { return p_.expected.contains(type); }
  bool expectsExpression() const {
    return expects(PlanParser::NUMBER) && expects(PlanParser::LPAREN);
  }
  bool atEnd() const {
    return found() == PlanParser::NEWLINE || found() == Token::EOF;
  }

  /// Where the found token stands; just after the one before it if a line or
  /// the file ended.
  SourceSpan foundSpan() const {
    if (!atEnd() || !p_.before)
      return places_.span(*p_.found);
    SourceSpan span = places_.span(*p_.before);
    return {span.file, span.end, span.end};
  }
  SourceSpan afterBefore() const {
    SourceSpan span = places_.span(*p_.before);
    return {span.file, span.end, span.end};
  }

  std::string afterWhat() const {
    if (!p_.before || p_.before->getType() == PlanParser::NEWLINE)
      return "";
    return " after " + describe(*p_.before);
  }

  /// The nearest item the problem is in, and its shape.
  const Shape *shape() const {
    for (antlr4::tree::ParseTree *at = p_.context; at; at = at->parent) {
      auto *context = dynamic_cast<antlr4::ParserRuleContext *>(at);
      if (!context || !context->start)
        continue;
      for (const Shape &shape : kShapes)
        if (shape.rule == context->getRuleIndex() &&
            shape.word == context->start->getType())
          return &shape;
    }
    return nullptr;
  }

  void addShape(diag::Builder &builder) const {
    if (const Shape *known = shape())
      builder.help("it reads `{}`", known->text);
  }

  bool reportUnitApart() {
    if (!p_.before || p_.before->getType() != PlanParser::NUMBER ||
        !isNameToken(found()) || !isUnit(p_.found->getText()) ||
        expects(PlanParser::WORD))
      return false;
    SourceSpan number = places_.span(*p_.before);
    SourceSpan unit = places_.span(*p_.found);
    emitter_
        .report(unit, Kind::UnitApart,
                "the unit `{}` stands apart from its number",
                p_.found->getText())
        .help("write `{}{}`", p_.before->getText(), p_.found->getText())
        .fix({unit.file, number.end, unit.begin}, "");
    return true;
  }

  bool reportMisplacedBrace() {
    bool here = p_.betweenItems && found() == PlanParser::LBRACE && !sameLine();
    bool next = found() == PlanParser::NEWLINE && expects(PlanParser::LBRACE) &&
                p_.after && p_.after->getType() == PlanParser::LBRACE;
    if (!here && !next)
      return false;
    const Token &brace = here ? *p_.found : *p_.after;
    emitter_
        .report(places_.span(brace), Kind::MisplacedBrace,
                "`{{` stands on a line of its own, and a newline ends what "
                "it belongs to")
        .help("move it to the end of the line before");
    return true;
  }

  bool sameLine() const {
    return p_.before && p_.before->getType() != PlanParser::NEWLINE &&
           p_.before->getType() != PlanParser::COMMA &&
           p_.before->getType() != PlanParser::LBRACE;
  }

  void reportBetweenItems() {
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
                  "expected a statement, found {}", describe(*p_.found))
          .help("a statement reads `NAME = VALUE`, or starts with `repeat`, "
                "`let`, `weight`, `input` or `return`");
      return;
    default:
      emitter_.report(foundSpan(), Kind::ExpectedName,
                      "expected the name of a field, found {}",
                      describe(*p_.found));
    }
  }

  void reportUnknownWord(Kind kind, std::size_t rule, std::string_view what) {
    std::vector<std::string_view> words = wordsOf(rule);
    std::string text = p_.found->getText();
    auto near = diag::nearestName(text, words);
    auto builder = emitter_.report(places_.span(*p_.found), kind, "{} {}",
                                   describe(*p_.found), what);
    if (near)
      builder.suggest(places_.span(*p_.found), near);
    else if (kind == Kind::UnknownDeclaration && isNameToken(found()) &&
             p_.after && p_.after->getType() == PlanParser::ASSIGN)
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
                                   afterWhat(), describe(*p_.found));
    addShape(builder);
  }

  bool reportBatchUnit() {
    if (p_.context->getRuleIndex() != PlanParser::RuleBatchPart &&
        p_.context->getRuleIndex() != PlanParser::RuleBatchLength)
      return false;
    if (expectsExpression())
      return false;
    auto builder = emitter_.report(
        foundSpan(), Kind::BatchUnit, "expected {}{}, found {}",
        expects(PlanParser::OF) ? "`of`" : "`sequences` or `tokens`",
        afterWhat(), describe(*p_.found));
    addShape(builder);
    return true;
  }

  bool reportReserved() {
    if (!isReservedToken(found()) || !expects(PlanParser::WORD) ||
        expects(PlanParser::NEWLINE))
      return false;
    auto builder = emitter_.report(
        foundSpan(), Kind::ReservedWord,
        "`{}` is a reserved word and cannot be a name", p_.found->getText());
    builder.help("choose another name, such as `{}_`", p_.found->getText());
    return true;
  }

  bool reportSingleEquals() {
    if (found() != PlanParser::ASSIGN || !expects(PlanParser::EQUAL))
      return false;
    emitter_
        .report(foundSpan(), Kind::SingleEquals,
                "`=` cannot stand in an expression")
        .help("two values are compared with `==`")
        .fix(foundSpan(), "==");
    return true;
  }

  bool reportMissingComma() {
    if (!expects(PlanParser::COMMA) || !startsExpression(found()) ||
        (!expects(PlanParser::RPAREN) && !expects(PlanParser::RBRACKET)))
      return false;
    emitter_
        .report(foundSpan(), Kind::MissingComma, "a comma is missing before {}",
                describe(*p_.found))
        .label(afterBefore(), "here")
        .fix(afterBefore(), ",");
    return true;
  }

  /// `f(x)` alone: an assignment that stops after its first name.
  bool reportStatement() {
    if (p_.context->getRuleIndex() != PlanParser::RuleStatement ||
        !expects(PlanParser::ASSIGN) || !p_.before ||
        !isNameToken(p_.before->getType()))
      return false;
    emitter_
        .report(foundSpan(), Kind::ExpectedStatement,
                "expected `=`{}, found {}", afterWhat(), describe(*p_.found))
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
    Kind kind = Kind::UnexpectedToken;
    std::string what;
    if (expectsExpression()) {
      kind = Kind::ExpectedExpression;
      what = "an expression";
    } else if (expects(PlanParser::WORD)) {
      kind = Kind::ExpectedName;
      what = "a name";
    } else if (what = fixedTokens(); !what.empty()) {
      kind = Kind::ExpectedToken;
    }
    auto builder =
        kind == Kind::UnexpectedToken
            ? emitter_.report(foundSpan(), kind, "{} cannot stand here{}",
                              describe(*p_.found), afterWhat())
            : emitter_.report(foundSpan(), kind, "expected {}{}, found {}",
                              what, afterWhat(), describe(*p_.found));
    addShape(builder);
  }

  /// "`then`", "`=`, `,` or `{`": what is expected besides operators that could
  /// always go on; nothing if that is too much to list.
  std::string fixedTokens() const {
    std::vector<std::string> words;
    for (ssize_t type : p_.expected.toList()) {
      auto token = static_cast<std::size_t>(type);
      if (isOperator(token))
        continue;
      words.push_back(describe(token));
    }
    if (words.size() > 4)
      return "";
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
  const TokenPlaces &places_;
  diag::Emitter &emitter_;
};

} // namespace

void reportProblem(const Problem &problem, const TokenPlaces &places,
                   diag::Emitter &emitter) {
  Reporter(problem, places, emitter).run();
}

} // namespace planc::syntax
