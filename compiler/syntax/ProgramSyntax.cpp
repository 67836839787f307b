#include "compiler/syntax/ProgramSyntax.h"

#include "compiler/diag/Kinds.h"
#include "compiler/syntax/ProgramFields.h"
#include "compiler/syntax/ReadProgram.h"

namespace planc::syntax {

namespace {

using antlr4::Parser;
using antlr4::ParserRuleContext;
using antlr4::Token;
using diag::Kind;
using P = ProgramTextParser;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view withoutMark(std::string_view text) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    text.remove_prefix(kByteOrderMark.size());
  return text;
}

std::string_view nameOf(std::size_t type) {
  switch (type) {
  case P::PROGRAM:
    return "`program`";
  case P::SCHEDULE:
    return "`schedule`";
  case P::BLOCK:
    return "`block`";
  case P::CLASS:
    return "`class`";
  case P::KEY:
    return "a field such as `name=`";
  case P::WORD:
    return "a word";
  case P::QUANTITY:
    return "a number with its unit";
  case P::NUMBER:
    return "a number";
  case P::PAIR:
    return "a pair such as `3:0`";
  case P::TEXT:
    return "a text in quotation marks";
  case P::OPEN:
    return "`{`";
  case P::CLOSE:
    return "`}`";
  case P::LBRACKET:
    return "`[`";
  case P::RBRACKET:
    return "`]`";
  case P::COMMA:
    return "`,`";
  case P::NEWLINE:
    return "the end of the line";
  default:
    return "the end of the file";
  }
}

/// Reports the first mistake of a line in planc's words and goes on with the
/// next line. A mistake in a header leaves the rest unread.
class ProgramErrors : public antlr4::ANTLRErrorStrategy {
public:
  ProgramErrors(const TokenPlaces &places, const source::SourceSet &sources,
                diag::Emitter &emitter)
      : places_(places), sources_(sources), emitter_(emitter) {}

  void reset(Parser *) override { recovering_ = false; }
  Token *recoverInline(Parser *parser) override {
    throw antlr4::InputMismatchException(parser);
  }
  bool inErrorRecoveryMode(Parser *) override { return recovering_; }
  void reportMatch(Parser *) override {}

  void reportError(Parser *parser,
                   const antlr4::RecognitionException &e) override {
    if (!recovering_)
      report(parser, e.getOffendingToken());
    recovering_ = true;
  }

  void recover(Parser *parser, std::exception_ptr e) override {
    std::size_t rule = parser->getContext()->getRuleIndex();
    antlr4::TokenStream &stream = *parser->getTokenStream();
    if (rule == P::RuleField)
      std::rethrow_exception(e);
    if (rule == P::RuleLine)
      skipTo(stream, P::NEWLINE);
    else if (rule == P::RuleItem)
      skipTo(stream, P::CLOSE);
    else
      skipTo(stream, Token::EOF);
    recovering_ = false;
  }

  /// Called before every turn of a loop: what cannot begin a line is reported
  /// and its line left out.
  void sync(Parser *parser) override {
    antlr4::TokenStream &stream = *parser->getTokenStream();
    if (mayGoOn(*parser->getContext(), stream.LA(1)))
      return;
    report(parser, stream.LT(1));
    while (stream.LA(1) != P::NEWLINE && stream.LA(1) != P::CLOSE &&
           stream.LA(1) != Token::EOF)
      stream.consume();
  }

private:
  static bool mayGoOn(ParserRuleContext &context, std::size_t next) {
    switch (context.getRuleIndex()) {
    case P::RuleWhole:
      return static_cast<P::WholeContext &>(context).items.empty() ||
             next == P::NEWLINE || next == P::BLOCK || next == P::CLASS ||
             next == P::CLOSE || next == Token::EOF;
    case P::RuleItem:
      return static_cast<P::ItemContext &>(context).lines.empty() ||
             next == P::NEWLINE || next == P::WORD || next == P::CLOSE ||
             next == Token::EOF;
    default:
      return true;
    }
  }

  static void skipTo(antlr4::TokenStream &stream, std::size_t last) {
    while (stream.LA(1) != Token::EOF && stream.LA(1) != last) {
      if (last == P::NEWLINE && stream.LA(1) == P::CLOSE)
        return;
      stream.consume();
    }
    if (stream.LA(1) != Token::EOF)
      stream.consume();
  }

  void report(Parser *parser, const Token *found) {
    source::SourceSpan span = places_.span(*found);
    if (found->getType() == P::OTHER)
      emitter_.report(span, Kind::UnexpectedCharacter,
                      "a stray `{}` means nothing here", sources_.text(span));
    else if (found->getType() == P::OPEN_TEXT)
      emitter_.report(span, Kind::UnterminatedText,
                      "the text never ends: its closing `\"` is missing");
    else
      emitter_.report(span, Kind::ExpectedToken, "expected {}{}, found {}",
                      expected(*parser, found), after(*parser, found),
                      shown(found));
  }

  static std::string expected(Parser &parser, const Token *found) {
    std::vector<std::string_view> names;
    for (std::size_t type : leftLoop(parser, found))
      names.push_back(nameOf(type));
    for (ssize_t type : parser.getExpectedTokens().toList())
      names.push_back(nameOf(static_cast<std::size_t>(type)));
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0)
        out += i + 1 == names.size() ? " or " : ", ";
      out += names[i];
    }
    return out;
  }

  /// When the end of a loop is asked for, what one more turn would begin with.
  static std::vector<std::size_t> leftLoop(Parser &parser, const Token *found) {
    antlr4::misc::IntervalSet types = parser.getExpectedTokens();
    auto asks = [&types](std::size_t type) {
      return types.contains(type) && types.size() == 1;
    };
    const Token *before = tokenBefore(parser, found);
    if (asks(P::RBRACKET) && before)
      return before->getType() == P::LBRACKET
                 ? std::vector<std::size_t>{P::NUMBER, P::PAIR}
                 : std::vector<std::size_t>{P::COMMA};
    if (asks(P::OPEN) || asks(P::NEWLINE))
      return {P::KEY};
    return {};
  }

  static const Token *tokenBefore(Parser &parser, const Token *found) {
    std::size_t index = found->getTokenIndex();
    return index ? parser.getTokenStream()->get(index - 1) : nullptr;
  }

  std::string after(Parser &parser, const Token *found) const {
    const Token *before = tokenBefore(parser, found);
    if (!before || before->getType() == P::NEWLINE)
      return "";
    return " after " + shown(before);
  }

  std::string shown(const Token *token) const {
    constexpr std::size_t kMostShown = 60;
    std::size_t type = token->getType();
    if (type == P::NEWLINE || type == Token::EOF)
      return std::string(nameOf(type));
    std::string_view text = sources_.text(places_.span(*token));
    if (text.size() > kMostShown)
      return type == P::TEXT ? "a text" : "a very long word";
    return fmt::format("`{}`", text);
  }

  const TokenPlaces &places_;
  const source::SourceSet &sources_;
  diag::Emitter &emitter_;
  bool recovering_ = false; ///< an error is on its way up to its line
};

} // namespace

ProgramSyntax::ProgramSyntax(source::FileId file,
                             const source::SourceSet &sources,
                             diag::Emitter &emitter)
    : sources_(sources), emitter_(emitter),
      text_(withoutMark(sources[file].text())),
      places_(file, text_,
              static_cast<std::uint32_t>(sources[file].text().size() -
                                         text_.size())),
      input_(std::string(text_)), lexer_(&input_) {
  lexer_.removeErrorListeners();
}

bool ProgramSyntax::readTokens() {
  std::vector<std::unique_ptr<Token>> tokens;
  for (;;) {
    tokens.push_back(lexer_.nextToken());
    if (tokens.back()->getType() == Token::EOF)
      break;
    if (tokens.size() > kMaxProgramTokens) {
      emitter_.report(span(tokens.back().get()), Kind::TooManyTokens,
                      "the program has more than {} words and signs",
                      kMaxProgramTokens);
      return false;
    }
  }
  list_ = std::make_unique<antlr4::ListTokenSource>(std::move(tokens));
  stream_ = std::make_unique<antlr4::CommonTokenStream>(list_.get());
  return true;
}

ProgramTextParser::WholeContext *ProgramSyntax::parse(Head head) {
  if (!readTokens())
    return nullptr;
  std::size_t errorsBefore = emitter_.errorCount();
  parser_ = std::make_unique<ProgramTextParser>(stream_.get());
  parser_->removeErrorListeners();
  parser_->setBuildParseTree(false); // labels keep what is needed
  parser_->setErrorHandler(
      std::make_shared<ProgramErrors>(places_, sources_, emitter_));
  P::WholeContext *whole = parser_->whole();
  if (emitter_.errorCount() != errorsBefore)
    return nullptr;
  const std::size_t wanted = head == Head::Program ? P::PROGRAM : P::SCHEDULE;
  if (whole->head->getType() == wanted)
    return whole;
  emitter_.report(span(whole->head), Kind::ExpectedToken,
                  "expected {}, found {}", nameOf(wanted),
                  nameOf(whole->head->getType()));
  return nullptr;
}

/// The first broken rule, and some of the others.
void reportRules(const std::vector<std::string> &broken,
                 source::SourceSpan span, diag::Emitter &emitter) {
  constexpr std::size_t kShown = 8;
  auto report = emitter.report(span, Kind::ProgramRule, "{}", broken[0]);
  for (std::size_t i = 1; i < broken.size() && i < kShown; ++i)
    report.note("{}", broken[i]);
  if (broken.size() > kShown)
    report.note("and {} more", broken.size() - kShown);
}

bool isReadable(source::FileId file, const source::SourceSet &sources,
                diag::Emitter &emitter) {
  std::string_view text = sources[file].text();
  if (text.size() > kMaxProgramBytes) {
    emitter.report({file, 0, 0}, Kind::FileTooLarge,
                   "the program has {} bytes, more than 32 MiB", text.size());
    return false;
  }
  if (auto bad = source::firstInvalidUtf8(text)) {
    auto at = static_cast<std::uint32_t>(*bad);
    emitter.report({file, at, at + 1}, Kind::NotUtf8, "byte {} is not UTF-8",
                   *bad);
    return false;
  }
  return true;
}

void reportWord(const ProgramSyntax &syntax, const Token *word,
                std::string_view what,
                const std::vector<std::string_view> &known,
                diag::Emitter &emitter) {
  std::string_view name = syntax.text(word);
  emitter
      .report(syntax.span(word), Kind::ProgramWord, "there is no {} `{}`", what,
              name)
      .suggest(syntax.span(word), diag::nearestName(name, known))
      .note("known: {}", listed(known));
}

} // namespace planc::syntax
