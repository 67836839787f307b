#include "compiler/syntax/Prescan.h"

#include "compiler/diag/Kinds.h"

#include <vector>

namespace planc::syntax {

namespace {

using source::SourceSpan;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isControl(char c) {
  auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}
bool isOpener(char c) { return c == '(' || c == '[' || c == '{'; }
bool isCloser(char c) { return c == ')' || c == ']' || c == '}'; }
bool isOperatorSign(char c) {
  return std::string_view("+-*/<>=!.|").find(c) != std::string_view::npos;
}
bool isOperatorWord(std::string_view word) {
  for (std::string_view known :
       {"if", "then", "else", "and", "or", "not", "mod", "in"})
    if (word == known)
      return true;
  return false;
}

/// Walks the bytes once, word by word, and keeps an upper bound of how deep the
/// syntax tree will be: brackets open, and in each the operators since the last
/// separator.
class Scanner {
public:
  Scanner(source::FileId file, std::string_view text, diag::Emitter &emitter)
      : file_(file), text_(text), emitter_(emitter) {}

  PrescanVerdict run() {
    while (at_ < text_.size())
      if (!step())
        return PrescanVerdict::Refused;
    return PrescanVerdict::Fine;
  }

private:
  struct Level {
    char opener;
    std::size_t operators = 0;
  };

  SourceSpan span(std::size_t begin, std::size_t end) const {
    return {file_, static_cast<std::uint32_t>(begin),
            static_cast<std::uint32_t>(end)};
  }

  /// Takes one word, sign, comment or text; false once the file is refused.
  bool step() {
    char c = text_[at_];
    if (c == ' ' || c == '\t') {
      ++at_;
      return true;
    }
    if (++tokens_ > kMaxTokens)
      return refuseTokens();
    if (c == '#')
      skipWhile([](char x) { return x != '\n' && x != '\r'; });
    else if (c == '\r' || c == '\n')
      endLine();
    else
      return takeToken(c);
    return true;
  }

  bool takeToken(char c) {
    std::size_t begin = at_;
    afterOperator_ = false;
    if (isLetter(c) || isDigit(c)) {
      skipWhile([](char x) { return isLetter(x) || isDigit(x); });
      std::string_view word = text_.substr(begin, at_ - begin);
      if (word == "let")
        forgetOperators();
      return isOperatorWord(word) ? addOperator(begin) : true;
    }
    ++at_;
    if (c == '"')
      skipText();
    else if (isOpener(c))
      return open(c, begin);
    else if (isCloser(c))
      close();
    else if (c == ',')
      forgetOperators();
    else if (isOperatorSign(c))
      return takeOperator(begin);
    else
      return stray(begin);
    return true;
  }

  void endLine() {
    ++at_;
    char opener = levels_.back().opener;
    if (!afterOperator_ && opener != '(' && opener != '[')
      forgetOperators();
  }

  void forgetOperators() {
    depth_ -= levels_.back().operators;
    levels_.back().operators = 0;
  }

  bool takeOperator(std::size_t begin) {
    std::string_view both = text_.substr(begin, 2);
    for (std::string_view known :
         {"**", "//", "==", "!=", "<=", ">=", "->", ".."})
      if (both == known)
        at_ = begin + 2;
    return addOperator(begin);
  }

  bool addOperator(std::size_t begin) {
    afterOperator_ = true;
    ++levels_.back().operators;
    return deepen(begin);
  }

  bool open(char c, std::size_t begin) {
    levels_.push_back({c});
    return deepen(begin);
  }

  void close() {
    if (levels_.size() == 1)
      return;
    depth_ -= levels_.back().operators + 1;
    levels_.pop_back();
  }

  bool deepen(std::size_t begin) {
    if (++depth_ <= kMaxNesting)
      return true;
    if (levels_.back().operators > kMaxNesting / 2)
      return refuseChain(begin);
    emitter_.report(span(begin, at_), diag::Kind::NestingTooDeep,
                    "brackets and operators nest more than {} deep here",
                    kMaxNesting);
    return false;
  }

  bool refuseChain(std::size_t begin) {
    emitter_
        .report(span(begin, at_), diag::Kind::NestingTooDeep,
                "this chain of operators is too long: planc follows {}",
                kMaxNesting)
        .help("name parts of it; `sum([a, b, c])` adds up a list");
    return false;
  }

  bool stray(std::size_t begin) {
    if (++strays_ <= kMaxStrayCharacters)
      return true;
    emitter_
        .report(span(begin, at_), diag::Kind::NotText,
                "this does not look like a .plan file: {} characters so far "
                "mean nothing in one",
                strays_)
        .note("every file is a text as in the examples");
    return false;
  }

  bool refuseTokens() {
    emitter_
        .report(span(at_, at_ + 1), diag::Kind::TooManyTokens,
                "the file has more than {} words, signs and lines", kMaxTokens)
        .help("describe equal layers with `repeat`, or split the file with "
              "`import`");
    return false;
  }

  template <class Predicate> void skipWhile(Predicate predicate) {
    while (at_ < text_.size() && predicate(text_[at_]))
      ++at_;
  }

  void skipText() {
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
      at_ +=
          text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n'
              ? 2
              : 1;
    if (at_ < text_.size() && text_[at_] == '"')
      ++at_;
  }

  source::FileId file_;
  std::string_view text_;
  diag::Emitter &emitter_;
  std::size_t at_ = 0;
  std::size_t tokens_ = 0;
  std::size_t strays_ = 0;
  std::size_t depth_ = 0;
  bool afterOperator_ = false;
  std::vector<Level> levels_{{' '}};
};

bool refuseControlCharacters(source::FileId file, std::string_view text,
                             diag::Emitter &emitter) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!isControl(text[i]))
      continue;
    auto at = static_cast<std::uint32_t>(i);
    emitter.report({file, at, at + 1}, diag::Kind::NotText,
                   "byte {} is the control character 0x{:02X}, which no text "
                   "has",
                   i, static_cast<unsigned>(text[i]));
    return true;
  }
  return false;
}

} // namespace

PrescanVerdict prescan(source::FileId file, const source::SourceSet &sources,
                       diag::Emitter &emitter) {
  std::string_view text = sources[file].text();
  if (text.size() > source::SourceSet::kMaxFileBytes) {
    emitter.report({file, 0, 0}, diag::Kind::FileTooLarge,
                   "the file has {} bytes, more than 4 MiB", text.size());
    return PrescanVerdict::Refused;
  }
  if (auto bad = source::firstInvalidUtf8(text)) {
    auto at = static_cast<std::uint32_t>(*bad);
    emitter.report(
        {file, at, at + 1}, diag::Kind::NotUtf8,
        "byte {} (0x{:02X}) is not UTF-8", *bad,
        static_cast<unsigned>(static_cast<unsigned char>(text[*bad])));
    return PrescanVerdict::Refused;
  }
  if (refuseControlCharacters(file, text, emitter))
    return PrescanVerdict::Refused;
  return Scanner(file, text, emitter).run();
}

} // namespace planc::syntax
