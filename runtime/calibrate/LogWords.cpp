#include "runtime/calibrate/LogWords.h"

#include <charconv>
#include <cmath>

namespace planc::calibrate {

namespace {
bool isBlank(char c) { return c == ' ' || c == '\t'; }
} // namespace

std::vector<std::string_view> wordsOf(std::string_view line, std::size_t most) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < line.size() && out.size() < most;) {
    while (at < line.size() && isBlank(line[at]))
      ++at;
    std::size_t end = at;
    while (end < line.size() && !isBlank(line[end]))
      ++end;
    if (end > at)
      out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

std::optional<double> numberOf(std::string_view word) {
  double value = 0;
  const char *end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<std::int64_t> integerOf(std::string_view word) {
  std::int64_t value = 0;
  const char *end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || rest != end)
    return std::nullopt;
  return value;
}

std::optional<double> numberAt(std::string_view text, std::size_t at) {
  while (at < text.size() && isBlank(text[at]))
    ++at;
  if (at >= text.size())
    return std::nullopt;
  double value = 0;
  const auto [rest, error] =
      std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::string withoutColours(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\x1b' && at + 1 < line.size() && line[at + 1] == '[') {
      at += 2;
      while (at < line.size() && (line[at] < '@' || line[at] > '~'))
        ++at;
    } else {
      out += line[at];
    }
  }
  return out;
}

} // namespace planc::calibrate
