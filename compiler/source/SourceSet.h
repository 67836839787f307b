// All files of one compile.
#pragma once

#include "compiler/source/SourceFile.h"

#include <memory>
#include <optional>

namespace planc::source {

/// Owns the files; an id names one for as long as the set lives, and the bytes
/// of a file never move.
class SourceSet {
public:
  /// What a file may have: a hundred times the longest plan, and little enough
  /// that even the slowest text of that size parses within a second.
  static constexpr std::size_t kMaxFileBytes = 4u << 20;

  FileId add(std::string name, std::string text);
  /// The file added under this name.
  std::optional<FileId> find(std::string_view name) const;

  const SourceFile &operator[](FileId id) const { return *files_[id.index()]; }
  std::size_t size() const { return files_.size(); }

  /// The bytes of a valid span.
  std::string_view text(SourceSpan span) const;
  /// Of a span's first byte.
  LineColumn lineColumn(SourceSpan span) const;

private:
  std::vector<std::unique_ptr<SourceFile>> files_;
};

/// Offset of the first byte that is not UTF-8 (overlong forms, surrogates and
/// values past U+10FFFF are not).
std::optional<std::size_t> firstInvalidUtf8(std::string_view text);

} // namespace planc::source
