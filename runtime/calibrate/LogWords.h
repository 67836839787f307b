// What the readers of logs share: words of a line and numbers, without a
// locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planc::calibrate {

/// Words between blanks; of the first `most` only.
std::vector<std::string_view> wordsOf(std::string_view line, std::size_t most);

/// The whole word is a number, finite.
std::optional<double> numberOf(std::string_view word);
std::optional<std::int64_t> integerOf(std::string_view word);
/// The number that begins at `at`, blanks before it skipped.
std::optional<double> numberAt(std::string_view text, std::size_t at);

/// Colours of a terminal (`ESC [ … letter`) taken out.
std::string withoutColours(std::string_view line);

/// Calls `line(number from 1, text)` for every line; a carriage return at its
/// end is no part of it.
template <class Line> void forEachLine(std::string_view text, Line line) {
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos)
      end = text.size();
    std::string_view one = text.substr(at, end - at);
    if (!one.empty() && one.back() == '\r')
      one.remove_suffix(1);
    line(++number, one);
    at = end + 1;
  }
}

} // namespace planc::calibrate
