#include "compiler/syntax/TokenFilter.h"

#include "compiler/diag/Kinds.h"

#include <algorithm>

namespace planc::syntax {

namespace {

using antlr4::CommonToken;
using antlr4::Token;
using source::SourceSpan;

std::size_t closerOf(std::size_t opener) {
  switch (opener) {
  case PlanLexer::LPAREN:
    return PlanLexer::RPAREN;
  case PlanLexer::LBRACKET:
    return PlanLexer::RBRACKET;
  default:
    return PlanLexer::RBRACE;
  }
}

bool isOpener(std::size_t type) {
  return type == PlanLexer::LPAREN || type == PlanLexer::LBRACKET ||
         type == PlanLexer::LBRACE;
}

bool isCloser(std::size_t type) {
  return type == PlanLexer::RPAREN || type == PlanLexer::RBRACKET ||
         type == PlanLexer::RBRACE;
}

/// What a stray character was most likely meant as.
std::string_view meantBy(std::string_view character) {
  static constexpr std::pair<std::string_view, std::string_view> kMeant[] = {
      {";", "a statement ends with its line; a comma separates on one line"},
      {"&", "write `and`"},
      {"!", "write `not`, or `!=` in one piece"},
      {"'", "a text stands in `\"`"},
      {":", "a value is given with `=`"},
      {"^", "a power is written `**`"},
      {"%", "a per cent sign touches its number; the remainder is `mod`"},
      {"\\", "a line goes on after a comma or an operator, or inside `( )`"},
      {"“", "a text stands in `\"`"},
      {"”", "a text stands in `\"`"},
      {"×", "write `*`"},
      {"−", "write `-`"},
      {"–", "write `-`"},
      {"→", "write `->`"},
      {"≤", "write `<=`"},
      {"≥", "write `>=`"},
      {"≠", "write `!=`"},
      {"µ", "write `us` for microseconds"},
  };
  for (const auto &[wrong, advice] : kMeant)
    if (character == wrong)
      return advice;
  return {};
}

struct OpenBracket {
  std::size_t type;
  std::size_t index; ///< in the output
  SourceSpan span;
};

class Filter {
public:
  Filter(std::vector<std::unique_ptr<Token>> lexed, const TokenPlaces &places,
         diag::Emitter &emitter)
      : lexed_(std::move(lexed)), places_(places), emitter_(emitter) {}

  FilteredTokens run() {
    for (at_ = 0; at_ < lexed_.size(); ++at_)
      take();
    finish();
    return std::move(out_);
  }

private:
  Token &token() { return *lexed_[at_]; }

  void take() {
    switch (token().getType()) {
    case PlanLexer::COMMENT:
      out_.comments.push_back(places_.span(token()));
      return;
    case PlanLexer::OTHER:
      takeStray();
      return;
    case PlanLexer::NEWLINE:
      if (!newline_)
        newline_ = std::move(lexed_[at_]);
      return;
    case PlanLexer::DOT:
      if (dropThirdPoint() || dropBarePoint())
        return;
      break;
    case PlanLexer::OPEN_TEXT:
      takeOpenText();
      break;
    default:
      break;
    }
    if (newline_ || out_.tokens.empty())
      stopAtDeclaration();
    takeVisible();
  }

  /// A token the parser may see.
  void takeVisible() {
    std::size_t type = token().getType();
    if (isCloser(type) && !closeFor(type))
      return;
    pushNewline(type);
    if (isOpener(type))
      open_.push_back({type, out_.tokens.size(), places_.span(token())});
    out_.tokens.push_back(std::move(lexed_[at_]));
  }

  void pushNewline(std::size_t nextType) {
    std::unique_ptr<Token> newline = std::move(newline_);
    if (!newline || out_.tokens.empty() || isCloser(nextType))
      return;
    if (!open_.empty() && open_.back().type != PlanLexer::LBRACE)
      return;
    // A declaration begins its own line even if the one before it is cut off.
    if (continuesLine(out_.tokens.back()->getType()) &&
        !(open_.empty() && beginsDeclaration(false)))
      return;
    out_.tokens.push_back(std::move(newline));
  }

  void tell() { out_.toldLines.insert(token().getLine()); }

  /// Reports a run of characters that mean nothing once.
  void takeStray() {
    std::size_t first = at_;
    while (at_ + 1 < lexed_.size() &&
           lexed_[at_ + 1]->getType() == PlanLexer::OTHER &&
           lexed_[at_ + 1]->getStartIndex() == token().getStopIndex() + 1)
      ++at_;
    tell();
    std::string text;
    for (std::size_t i = first; i <= at_; ++i)
      text += lexed_[i]->getText();
    std::string_view advice = meantBy(lexed_[first]->getText());
    auto builder = emitter_.report(places_.span(*lexed_[first], token()),
                                   diag::Kind::UnexpectedCharacter,
                                   "`{}` means nothing here", text);
    if (!advice.empty())
      builder.help("{}", advice);
    else if (static_cast<unsigned char>(text[0]) >= 0x80)
      builder.help("names are made of the letters a-z and A-Z, digits and `_`");
  }

  void takeOpenText() {
    tell();
    emitter_.report(places_.span(token()), diag::Kind::UnterminatedText,
                    "the text that begins here does not end on its line");
    dynamic_cast<CommonToken &>(token()).setType(PlanLexer::TEXT);
  }

  /// The token before this one, whether passed on or left out.
  const Token *previous() const {
    if (at_ > 0 && lexed_[at_ - 1])
      return lexed_[at_ - 1].get();
    return out_.tokens.empty() ? nullptr : out_.tokens.back().get();
  }

  /// `1...32`: reports the last point and leaves it out.
  bool dropThirdPoint() {
    const Token *range = previous();
    if (!range || range->getType() != PlanLexer::RANGE ||
        range->getStopIndex() + 1 != token().getStartIndex())
      return false;
    tell();
    SourceSpan span = places_.span(*range, token());
    emitter_
        .report(span, diag::Kind::UnexpectedCharacter,
                "a range has two points, not three")
        .fix(span, "..");
    return true;
  }

  /// `1.` and `.5`: reports the point and leaves it out.
  bool dropBarePoint() {
    const Token *before = previous();
    const Token *after =
        at_ + 1 < lexed_.size() ? lexed_[at_ + 1].get() : nullptr;
    auto isNumber = [](const Token *t) {
      return t && (t->getType() == PlanLexer::NUMBER ||
                   t->getType() == PlanLexer::QUANTITY);
    };
    bool afterNumber = isNumber(before) &&
                       before->getStopIndex() + 1 == token().getStartIndex();
    bool beforeNumber =
        isNumber(after) && token().getStopIndex() + 1 == after->getStartIndex();
    if (!afterNumber && !beforeNumber)
      return false;
    tell();
    const Token &number = afterNumber ? *before : *after;
    SourceSpan span = afterNumber ? places_.span(number, token())
                                  : places_.span(token(), number);
    emitter_
        .report(span, diag::Kind::BarePoint,
                "a number has digits on both sides of its point")
        .fix(span,
             afterNumber ? number.getText() + ".0" : "0." + number.getText());
    return true;
  }

  /// Makes room for a closing bracket; false if it closes nothing.
  bool closeFor(std::size_t closer) {
    std::size_t match = open_.size();
    while (match > 0 && closerOf(open_[match - 1].type) != closer) {
      // A brace is stronger than what stands inside it.
      if (open_[match - 1].type == PlanLexer::LBRACE)
        match = 0;
      else
        --match;
    }
    if (match == 0)
      return closeOther(closer);
    leaveOpen(match);
    open_.pop_back();
    return true;
  }

  /// A closing bracket without its own opening one: closes another in `( )` and
  /// `[ ]`, or is left out. True if the parser may see it.
  bool closeOther(std::size_t closer) {
    tell();
    bool inPlace = closer != PlanLexer::RBRACE && !open_.empty() &&
                   open_.back().type != PlanLexer::LBRACE;
    if (!inPlace) {
      emitter_.report(places_.span(token()), diag::Kind::UnmatchedBracket,
                      "{} closes nothing", describe(token()));
      return false;
    }
    std::size_t wanted = closerOf(open_.back().type);
    emitter_
        .report(places_.span(token()), diag::Kind::UnmatchedBracket,
                "{} cannot close {}", describe(token()),
                describe(open_.back().type))
        .label(open_.back().span, "opened here");
    dynamic_cast<CommonToken &>(token()).setType(wanted);
    open_.pop_back();
    return true;
  }

  /// Reports the innermost of the brackets above `keep`, and closes them all.
  void leaveOpen(std::size_t keep) {
    if (open_.size() <= keep)
      return;
    const OpenBracket &inner = open_.back();
    bool atEnd = at_ >= lexed_.size();
    auto report = [&] {
      if (atEnd)
        return emitter_.report(inner.span, diag::Kind::UnclosedBracket,
                               "{} opened here is not closed before the end of "
                               "the file",
                               describe(inner.type));
      return emitter_.report(inner.span, diag::Kind::UnclosedBracket,
                             "{} opened here is not closed before {} on line "
                             "{}",
                             describe(inner.type), describe(token()),
                             token().getLine());
    }();
    for (std::size_t i = open_.size() - 1; i-- > keep;)
      report.note(open_[i].span, "{} is open as well", describe(open_[i].type));
    out_.toldRanges.emplace_back(open_[keep].index,
                                 out_.tokens.size() + open_.size() - keep);
    while (open_.size() > keep) {
      pushCloser(closerOf(open_.back().type));
      open_.pop_back();
    }
  }

  void pushCloser(std::size_t type) {
    auto closer = std::make_unique<CommonToken>(type, describe(type));
    const Token &last = *out_.tokens.back();
    closer->setStartIndex(last.getStopIndex() + 1);
    closer->setStopIndex(last.getStopIndex());
    closer->setLine(last.getLine());
    out_.tokens.push_back(std::move(closer));
  }

  std::size_t typeAhead(std::size_t by) const {
    if (at_ + by >= lexed_.size())
      return Token::EOF;
    return lexed_[at_ + by]->getType();
  }

  /// Does the token, first of its line, begin a declaration although brackets
  /// are open. Inside braces a second look is needed: fields and statements may
  /// begin with the same word.
  bool beginsDeclaration(bool insideBrace) const {
    std::size_t next = typeAhead(1);
    std::size_t afterNext = typeAhead(2);
    bool named = isNameToken(next);
    switch (typeAhead(0)) {
    case PlanLexer::LANGUAGE:
      return next == PlanLexer::NUMBER;
    case PlanLexer::IMPORT:
      return next == PlanLexer::TEXT || named;
    case PlanLexer::LET:
      return !insideBrace;
    case PlanLexer::PARAM:
      return named && (!insideBrace || afterNext == PlanLexer::ASSIGN);
    case PlanLexer::ACCELERATOR:
    case PlanLexer::CLUSTER:
    case PlanLexer::TARGET:
      return named && (!insideBrace || afterNext == PlanLexer::LBRACE);
    case PlanLexer::BLOCK:
    case PlanLexer::OP:
      return named && (!insideBrace || afterNext == PlanLexer::LPAREN);
    case PlanLexer::MODEL:
      return named &&
             (!insideBrace || afterNext == PlanLexer::LPAREN ||
              afterNext == PlanLexer::LBRACE || afterNext == PlanLexer::ASSIGN);
    case PlanLexer::PLAN:
      return named &&
             (!insideBrace || afterNext == PlanLexer::LPAREN ||
              afterNext == PlanLexer::FOR || afterNext == PlanLexer::ASSIGN);
    default:
      return false;
    }
  }

  void stopAtDeclaration() {
    if (open_.empty())
      return;
    std::size_t keep = open_.size();
    while (keep > 0 && open_[keep - 1].type != PlanLexer::LBRACE)
      --keep;
    if (keep > 0 && beginsDeclaration(true))
      leaveOpen(0);
    else if (keep < open_.size() && beginsDeclaration(false))
      leaveOpen(keep);
  }

  void finish() {
    leaveOpen(0);
    auto end = std::make_unique<CommonToken>(Token::EOF, "<EOF>");
    std::size_t position = 0;
    std::size_t line = 1;
    if (!out_.tokens.empty()) {
      position = out_.tokens.back()->getStopIndex() + 1;
      line = out_.tokens.back()->getLine();
    }
    end->setStartIndex(position);
    end->setStopIndex(position - 1);
    end->setLine(line);
    out_.tokens.push_back(std::move(end));
  }

  std::vector<std::unique_ptr<Token>> lexed_;
  const TokenPlaces &places_;
  diag::Emitter &emitter_;
  std::size_t at_ = 0;
  std::unique_ptr<Token> newline_; ///< seen, not yet decided on
  std::vector<OpenBracket> open_;
  FilteredTokens out_;
};

} // namespace

bool FilteredTokens::isTold(const Token &token) const {
  std::size_t index = token.getTokenIndex();
  return toldLines.contains(token.getLine()) ||
         std::any_of(toldRanges.begin(), toldRanges.end(), [&](auto range) {
           return index >= range.first && index <= range.second;
         });
}

FilteredTokens filterTokens(std::vector<std::unique_ptr<Token>> lexed,
                            const TokenPlaces &places, diag::Emitter &emitter) {
  return Filter(std::move(lexed), places, emitter).run();
}

} // namespace planc::syntax
