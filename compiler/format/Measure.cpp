#include "compiler/format/Measure.h"

namespace planc::format {

using syntax::TokenRole;
using syntax::WrittenItem;

namespace {

std::size_t countLineEnds(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    count += text[i] == '\n' ||
             (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  return count;
}

/// Does a token stand beside the one before it wherever the line was broken.
bool isJoined(TokenRole before, TokenRole after) {
  return after == TokenRole::OpenTight || after == TokenRole::Point ||
         after == TokenRole::Close || after == TokenRole::Comma ||
         (before == TokenRole::OpenBlock && after == TokenRole::CloseBlock) ||
         before == TokenRole::Point || before == TokenRole::Sign;
}

} // namespace

bool isSpaced(TokenRole before, TokenRole after) {
  switch (after) {
  case TokenRole::Comma:
  case TokenRole::Close:
  case TokenRole::Point:
  case TokenRole::OpenTight:
    return false;
  case TokenRole::CloseBlock:
    return before != TokenRole::OpenBlock;
  default:
    return before != TokenRole::Open && before != TokenRole::OpenTight &&
           before != TokenRole::Point && before != TokenRole::Sign;
  }
}

Measure::Measure(std::string_view text, const syntax::WrittenFile &written)
    : text_(text), written_(&written) {
  const std::size_t count = written.tokens.size();
  isBroken_.assign(count + 1, false);
  isSeparated_.assign(count + 1, false);
  std::size_t end = 0;
  for (const syntax::WrittenToken &token : written.tokens) {
    lineEnds_.push_back(
        countLineEnds(text.substr(end, token.span.begin - end)));
    end = token.span.end;
  }
  findSeparated(written.items);
  findBreaks();
  addUp();
}

std::string_view Measure::text(std::size_t token) const {
  const source::SourceSpan span = written_->tokens[token].span;
  std::string_view text = text_.substr(span.begin, span.end - span.begin);
  if (isComment(token))
    text = text.substr(0, text.find_last_not_of(" \t") + 1);
  return text;
}

/// A break before a comma is one after it.
void Measure::findBreaks() {
  const std::size_t count = written_->tokens.size();
  for (std::size_t i = 1; i < count; ++i) {
    if (lineEnds_[i] == 0)
      continue;
    if (role(i) == TokenRole::Comma)
      isBroken_[i + 1] = true;
    else if (!isJoined(role(i - 1), role(i)))
      isBroken_[i] = true;
  }
}

void Measure::findSeparated(const std::vector<WrittenItem> &items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    isSeparated_[items[i].first] = i != 0;
    findSeparated(items[i].items);
  }
}

void Measure::addUp() {
  const std::size_t count = written_->tokens.size();
  std::size_t at = 0, breaks = 0, outer = 0, places = 0, depth = 0;
  breaks_.push_back(0);
  outerBreaks_.push_back(0);
  places_.push_back(0);
  for (std::size_t i = 0; i < count; ++i) {
    const TokenRole here = role(i);
    at += isSeparated_[i];
    at += i != 0 && isSpaced(role(i - 1), here);
    starts_.push_back(at);
    sizes_.push_back(columnsOf(text(i)));
    at += sizes_.back();
    depth -= here == TokenRole::Close;
    breaks += isBroken_[i] || isComment(i);
    outer += (depth == 0 && isBroken_[i]) || isComment(i);
    depth += here == TokenRole::Open || here == TokenRole::OpenTight;
    breaks_.push_back(breaks);
    outerBreaks_.push_back(outer);
    places += i != 0 &&
              (role(i - 1) == TokenRole::Comma ||
               role(i - 1) == TokenRole::Operator || here == TokenRole::Branch);
    places_.push_back(places);
  }
}

} // namespace planc::format
