#include "runtime/report/Page.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::report {

namespace {

std::string_view escapeOf(Mark mark) {
  switch (mark) {
  case Mark::None:
    return "";
  case Mark::Bad:
    return "\x1b[31m";
  case Mark::Good:
    return "\x1b[32m";
  case Mark::Name:
    return "\x1b[36m";
  }
  return "";
}

} // namespace

Page &Page::put(std::string_view text, Mark mark) {
  const std::string fitting = shortened(text, room());
  const bool coloured = color_ == Color::Always && mark != Mark::None;
  if (fitting.empty())
    return *this;
  out_.append(blanks_, ' ');
  blanks_ = 0;
  if (coloured)
    out_ += escapeOf(mark);
  out_ += fitting;
  if (coloured)
    out_ += "\x1b[0m";
  column_ += columnsOf(fitting);
  return *this;
}

Page &Page::to(std::size_t column, std::size_t least) {
  const std::size_t goal =
      std::min(kColumns, std::max(column, column_ + (column_ ? least : 0)));
  blanks_ += goal - column_;
  column_ = goal;
  return *this;
}

std::string placeText(const Place &place) {
  if (place.line == 0)
    return oneLine(place.file);
  return fmt::format("{}:{}", oneLine(place.file), place.line);
}

std::vector<std::string> wrapped(const std::string &text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (line.empty())
      line = word;
    else if (columnsOf(line) + 1 + columnsOf(word) <= width)
      line += " " + word;
    else {
      lines.push_back(line);
      line = "  " + word;
    }
  }
  lines.push_back(line);
  return lines;
}

std::string clauseText(std::string_view line) {
  const std::size_t comment = line.find('#');
  const std::string text = oneLine(line.substr(0, comment));
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos || blank > 9)
    return text;
  return fmt::format("{:<10}{}", text.substr(0, blank), text.substr(blank + 1));
}

} // namespace planc::report
