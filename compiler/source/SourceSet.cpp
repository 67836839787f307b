#include "compiler/source/SourceSet.h"

namespace planc::source {

FileId SourceSet::add(std::string name, std::string text) {
  files_.push_back(
      std::make_unique<SourceFile>(std::move(name), std::move(text)));
  return FileId(files_.size() - 1);
}

std::optional<FileId> SourceSet::find(std::string_view name) const {
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (files_[i]->name() == name)
      return FileId(i);
  return std::nullopt;
}

std::string_view SourceSet::text(SourceSpan span) const {
  std::string_view all = (*this)[span.file].text();
  if (span.begin >= all.size() || span.end <= span.begin)
    return {};
  return all.substr(span.begin, span.end - span.begin);
}

LineColumn SourceSet::lineColumn(SourceSpan span) const {
  return (*this)[span.file].lineColumn(span.begin);
}

namespace {

/// What may follow a first byte: how many continuation bytes, and the range of
/// the first of them, which is where overlong forms, surrogates and values past
/// U+10FFFF show (Unicode 15, table 3-7).
struct Utf8Form {
  int continuations;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

std::optional<Utf8Form> formOf(unsigned char first) {
  if (first < 0x80)
    return Utf8Form{0};
  if (first < 0xC2)
    return std::nullopt;
  if (first < 0xE0)
    return Utf8Form{1};
  if (first < 0xF0)
    return Utf8Form{2, static_cast<unsigned char>(first == 0xE0 ? 0xA0 : 0x80),
                    static_cast<unsigned char>(first == 0xED ? 0x9F : 0xBF)};
  if (first < 0xF5)
    return Utf8Form{3, static_cast<unsigned char>(first == 0xF0 ? 0x90 : 0x80),
                    static_cast<unsigned char>(first == 0xF4 ? 0x8F : 0xBF)};
  return std::nullopt;
}

} // namespace

std::optional<std::size_t> firstInvalidUtf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::optional<Utf8Form> form = formOf(static_cast<unsigned char>(text[at]));
    if (!form)
      return at;
    std::size_t next = at + 1;
    for (int i = 0; i < form->continuations; ++i, ++next) {
      if (next >= text.size())
        return at;
      auto byte = static_cast<unsigned char>(text[next]);
      if (byte < (i == 0 ? form->low : 0x80) ||
          byte > (i == 0 ? form->high : 0xBF))
        return at;
    }
    at = next;
  }
  return std::nullopt;
}

} // namespace planc::source
