#include "compiler/source/SourceFile.h"

#include <algorithm>

namespace planc::source {

SourceFile::SourceFile(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)), lineStarts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n' ||
        (text_[i] == '\r' && text_.compare(i + 1, 1, "\n") != 0))
      lineStarts_.push_back(static_cast<std::uint32_t>(i + 1));
}

LineColumn SourceFile::lineColumn(std::uint32_t offset) const {
  auto after = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  auto line = static_cast<std::uint32_t>(after - lineStarts_.begin());
  return {line, offset - lineStarts_[line - 1] + 1};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  std::size_t begin = lineStarts_[number - 1];
  std::size_t end =
      number < lineStarts_.size() ? lineStarts_[number] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r'))
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

} // namespace planc::source
