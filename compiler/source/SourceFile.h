// Source text: bytes, lines and spans.
#pragma once

#include "runtime/base/Id.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace planc::source {

using FileId = Id<struct FileTag>;

/// Half-open range of bytes [begin, end) in one file.
struct SourceSpan {
  FileId file;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool isValid() const { return file.isValid(); }
  bool operator==(const SourceSpan &) const = default;
};

/// 1-based line; 1-based column counted in bytes.
struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// One file's bytes and the offsets its lines start at; a line ends with LF,
/// CR LF or CR. Immutable once made.
class SourceFile {
public:
  SourceFile(std::string name, std::string text);

  const std::string &name() const { return name_; }
  std::string_view text() const { return text_; }
  LineColumn lineColumn(std::uint32_t offset) const;
  std::size_t lineCount() const { return lineStarts_.size(); }
  /// The text of a 1-based line, without its line break.
  std::string_view line(std::uint32_t number) const;

private:
  std::string name_; ///< as the user would name it: `plans/a.plan`,
                     ///< `std/models/llama.plan`
  std::string text_;
  std::vector<std::uint32_t> lineStarts_;
};

} // namespace planc::source
