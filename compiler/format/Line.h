// Lines of the text being made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace planc::format {

/// Deeper than this nothing is moved to the right, so that no text grows more
/// than linearly.
inline constexpr std::size_t kMaxIndent = 60;

struct Line {
  std::size_t indent = 0;
  std::string code;    ///< or a comment that has the line to itself
  std::string comment; ///< after the code
  std::size_t width = 0;
  std::size_t block = 0; ///< which block's items it is one of
  bool isAfterBlank = false;
};

/// Columns that a text takes: its code points.
inline std::size_t columnsOf(std::string_view text) {
  std::size_t columns = 0;
  for (char c : text)
    columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

/// Comments at the ends of lines in one column, and all as one text.
std::string joinLines(const std::vector<Line> &lines);

} // namespace planc::format
