#include "compiler/syntax/Tokens.h"

namespace planc::syntax {

bool continuesLine(std::size_t type) {
  switch (type) {
  case PlanLexer::COMMA:
  case PlanLexer::LBRACE:
  case PlanLexer::ASSIGN:
  case PlanLexer::ARROW:
  case PlanLexer::RANGE:
  case PlanLexer::BAR:
  case PlanLexer::POWER:
  case PlanLexer::STAR:
  case PlanLexer::FLOOR_DIVIDE:
  case PlanLexer::SLASH:
  case PlanLexer::PLUS:
  case PlanLexer::MINUS:
  case PlanLexer::EQUAL:
  case PlanLexer::NOT_EQUAL:
  case PlanLexer::LESS:
  case PlanLexer::LESS_EQUAL:
  case PlanLexer::GREATER:
  case PlanLexer::GREATER_EQUAL:
  case PlanLexer::AND:
  case PlanLexer::OR:
  case PlanLexer::NOT:
  case PlanLexer::MOD:
  case PlanLexer::IN_:
  case PlanLexer::THEN:
  case PlanLexer::ELSE:
    return true;
  default:
    return false;
  }
}

bool startsExpression(std::size_t type) {
  switch (type) {
  case PlanLexer::NUMBER:
  case PlanLexer::QUANTITY:
  case PlanLexer::SCHEDULE:
  case PlanLexer::TEXT:
  case PlanLexer::TRUE_:
  case PlanLexer::FALSE_:
  case PlanLexer::IF:
  case PlanLexer::NOT:
  case PlanLexer::LPAREN:
  case PlanLexer::LBRACKET:
    return true;
  default:
    return isNameToken(type);
  }
}

namespace {

std::string shortened(const std::string &text) {
  static constexpr std::size_t kMaxLength = 60;
  return text.size() <= kMaxLength ? text : text.substr(0, kMaxLength) + "…";
}

} // namespace

std::string describe(const antlr4::Token &token) {
  switch (token.getType()) {
  case antlr4::Token::EOF:
    return "the end of the file";
  case PlanLexer::NEWLINE:
    return "the end of the line";
  case PlanLexer::TEXT:
    return "a text";
  default:
    return "`" + shortened(token.getText()) + "`";
  }
}

std::string describe(std::size_t type) {
  switch (type) {
  case antlr4::Token::EOF:
    return "the end of the file";
  case PlanLexer::NEWLINE:
    return "the end of the line";
  case PlanLexer::NUMBER:
    return "a number";
  case PlanLexer::QUANTITY:
    return "a quantity";
  case PlanLexer::SCHEDULE:
    return "a schedule";
  case PlanLexer::WORD:
    return "a name";
  case PlanLexer::TEXT:
    return "a text in quotation marks";
  default:
    break;
  }
  // The grammar's own spelling: 'model' → `model`.
  static const PlanLexer lexer(nullptr);
  std::string literal(lexer.getVocabulary().getLiteralName(type));
  if (literal.size() > 2)
    return "`" + literal.substr(1, literal.size() - 2) + "`";
  return "something else";
}

OffsetMap::OffsetMap(std::string_view text)
    : ascii_(true), size_(static_cast<std::uint32_t>(text.size())) {
  for (char c : text)
    ascii_ &= static_cast<unsigned char>(c) < 0x80;
  if (ascii_)
    return;
  for (std::uint32_t i = 0; i < size_; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80)
      starts_.push_back(i);
}

std::uint32_t OffsetMap::toByte(std::size_t codePoint) const {
  if (ascii_)
    return codePoint < size_ ? static_cast<std::uint32_t>(codePoint) : size_;
  return codePoint < starts_.size() ? starts_[codePoint] : size_;
}

} // namespace planc::syntax
