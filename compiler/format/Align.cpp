#include "compiler/format/Line.h"

#include <algorithm>

namespace planc::format {

namespace {

constexpr std::size_t kGap = 2; ///< between code and its comment
/// A line longer than this has its comment behind it and moves no other.
constexpr std::size_t kMaxAligned = 80;

/// One past the last line of the paragraph that begins at `begin`.
std::size_t endOfParagraph(const std::vector<Line> &lines, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < lines.size() && !lines[end].isAfterBlank &&
         lines[end].block == lines[begin].block)
    ++end;
  return end;
}

std::size_t commentColumn(const std::vector<Line> &lines, std::size_t begin,
                          std::size_t end) {
  std::size_t column = 0;
  for (std::size_t i = begin; i < end; ++i)
    if (!lines[i].comment.empty() && lines[i].width <= kMaxAligned)
      column = std::max(column, lines[i].width + kGap);
  return column;
}

} // namespace

std::string joinLines(const std::vector<Line> &lines) {
  std::string out;
  std::size_t column = 0, end = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line &line = lines[i];
    if (i == end) {
      end = endOfParagraph(lines, i);
      column = commentColumn(lines, i, end);
    }
    if (line.isAfterBlank)
      out += '\n';
    out.append(line.indent, ' ');
    out += line.code;
    if (!line.comment.empty()) {
      out.append(std::max(column, line.width + kGap) - line.width, ' ');
      out += line.comment;
    }
    out += '\n';
  }
  return out;
}

} // namespace planc::format
