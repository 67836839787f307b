// The value of `-D name=value`: a literal that stands in no file.
#include "compiler/sema/Elaboration.h"

#include "compiler/sema/Words.h"

#include <charconv>
#include <cmath>

namespace planc::sema {

namespace {

bool isSpace(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isIdentifier(std::string_view text) {
  if (text.empty() || !isLetter(text.front()))
    return false;
  for (char c : text)
    if (!isLetter(c) && !isDigit(c))
      return false;
  return true;
}

std::optional<Value> parseNumber(std::string_view text) {
  const char *end = text.data() + text.size();
  std::int64_t whole = 0;
  auto asWhole = std::from_chars(text.data(), end, whole);
  if (asWhole.ec == std::errc() && asWhole.ptr == end)
    return Value(whole);
  double real = 0;
  auto asReal = std::from_chars(text.data(), end, real);
  if (asReal.ec != std::errc() || !std::isfinite(real))
    return std::nullopt;
  if (asReal.ptr == end)
    return Value(real);
  auto unit =
      parseUnit({asReal.ptr, static_cast<std::size_t>(end - asReal.ptr)});
  if (!unit)
    return std::nullopt;
  double value = real * unit->numerator / unit->denominator;
  if (!std::isfinite(value))
    return std::nullopt;
  if (unit->dimension.isNone())
    return Value(value);
  return Value(Quantity{value, unit->dimension});
}

std::optional<Value> parseList(std::string_view inside) {
  List list;
  std::vector<Value> items;
  while (!trim(inside).empty()) {
    std::size_t comma = inside.find(',');
    std::string_view item = trim(inside.substr(0, comma));
    bool isNested = !item.empty() && item.front() == '[';
    auto value = isNested ? std::nullopt : parseLiteral(item);
    if (!value)
      return std::nullopt;
    items.push_back(*value);
    inside = comma == std::string_view::npos ? "" : inside.substr(comma + 1);
  }
  list.leaves = static_cast<std::int64_t>(items.size());
  list.items = std::make_shared<const std::vector<Value>>(std::move(items));
  return Value(list);
}

} // namespace

std::optional<Value> parseLiteral(std::string_view text) {
  text = trim(text);
  if (text.empty())
    return std::nullopt;
  if (text == "true" || text == "false")
    return Value(text == "true");
  // Before numbers: `1F1B` begins with a digit.
  for (std::string_view word : allWords())
    if (word == text)
      return Value(Word{word});
  if (text.front() == '[' && text.back() == ']' && text.size() >= 2)
    return parseList(text.substr(1, text.size() - 2));
  if (text.front() == '"' && text.back() == '"' && text.size() >= 2)
    return Value(std::string(text.substr(1, text.size() - 2)));
  if (isIdentifier(text))
    return Value(Word{text});
  return parseNumber(text);
}

} // namespace planc::sema
