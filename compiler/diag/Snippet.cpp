#include "compiler/diag/Snippet.h"

#include "compiler/diag/Consumers.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::diag {

namespace {

constexpr std::size_t kMaxColumns = 200;
constexpr std::size_t kColumnsBefore = 80;
constexpr std::size_t kTabStop = 4;

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Bytes of the character at `at`; 1 where it is not UTF-8.
std::size_t characterLength(std::string_view text, std::size_t at) {
  auto first = static_cast<unsigned char>(text[at]);
  std::size_t length = first < 0xC0   ? 1
                       : first < 0xE0 ? 2
                       : first < 0xF0 ? 3
                                      : 4;
  std::string_view piece = text.substr(at, length);
  if (piece.size() < length || source::firstInvalidUtf8(piece))
    return 1;
  return length;
}

/// Columns a character takes, or nothing if it has to be escaped.
std::optional<std::size_t> widthOf(std::string_view character) {
  int width = llvm::sys::unicode::columnWidthUTF8(
      llvm::StringRef(character.data(), character.size()));
  if (width <= 0)
    return std::nullopt;
  return static_cast<std::size_t>(width);
}

void appendEscaped(std::string &out, std::string_view character) {
  for (char c : character)
    out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
}

/// A line as shown, and the column each of its bytes stands at.
struct Rendered {
  std::string text;
  std::vector<std::size_t> columns; ///< one more than there are bytes
};

Rendered render(std::string_view line) {
  Rendered out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t length = characterLength(line, at);
    std::string_view character = line.substr(at, length);
    std::size_t width = 0;
    if (character == "\t") {
      width = kTabStop - column % kTabStop;
      out.text.append(width, ' ');
    } else if (auto known = widthOf(character)) {
      width = *known;
      out.text += character;
    } else {
      width = 4 * length;
      appendEscaped(out.text, character);
    }
    out.columns.insert(out.columns.end(), length, column);
    column += width;
    at += length;
  }
  out.columns.push_back(column);
  return out;
}

/// The part of a long line around byte `at`, and the marks moved with it.
std::string_view windowOf(std::string_view line, std::size_t at,
                          std::vector<Mark> &marks) {
  std::size_t begin = at > kColumnsBefore ? at - kColumnsBefore : 0;
  while (begin < line.size() && begin > 0 && isContinuation(line[begin]))
    ++begin;
  std::size_t end = std::min(line.size(), begin + kMaxColumns);
  while (end < line.size() && isContinuation(line[end]))
    ++end;
  for (Mark &mark : marks) {
    mark.begin = std::clamp(mark.begin, begin, end) - begin;
    mark.end = std::clamp(mark.end, begin, end) - begin;
  }
  return line.substr(begin, end - begin);
}

/// Carets under every mark; the text of the last stands beside it, those of the
/// others, from right to left, below.
std::vector<std::string> marksBelow(const std::vector<std::size_t> &columns,
                                    const std::vector<Mark> &marks,
                                    std::size_t shift) {
  std::string carets;
  std::vector<std::string> below;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    std::size_t begin = columns[marks[i].begin] + shift;
    std::size_t end = std::max(columns[marks[i].end] + shift, begin + 1);
    if (carets.size() < end)
      carets.resize(end, ' ');
    std::fill(carets.begin() + static_cast<std::ptrdiff_t>(begin),
              carets.begin() + static_cast<std::ptrdiff_t>(end), '^');
    if (marks[i].text.empty())
      continue;
    if (i + 1 == marks.size())
      carets += " " + printable(marks[i].text);
    else
      below.insert(below.begin(),
                   std::string(begin, ' ') + printable(marks[i].text));
  }
  below.insert(below.begin(), carets);
  return below;
}

} // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = characterLength(text, at);
    std::string_view character = text.substr(at, length);
    if (widthOf(character))
      out += character;
    else
      appendEscaped(out, character);
    at += length;
  }
  return out;
}

Snippet makeSnippet(std::string_view line, std::vector<Mark> marks) {
  for (Mark &mark : marks) {
    mark.begin = std::min(mark.begin, line.size());
    mark.end = std::clamp(mark.end, mark.begin, line.size());
  }
  std::string_view shown = line;
  if (line.size() > kMaxColumns)
    shown = windowOf(line, marks.front().begin, marks);
  bool cutBefore = shown.data() != line.data();
  bool cutAfter = shown.data() + shown.size() != line.data() + line.size();
  std::stable_sort(
      marks.begin(), marks.end(),
      [](const Mark &a, const Mark &b) { return a.begin < b.begin; });
  Rendered rendered = render(shown);
  Snippet out;
  out.line = (cutBefore ? "…" : "") + rendered.text + (cutAfter ? "…" : "");
  out.below = marksBelow(rendered.columns, marks, cutBefore ? 1 : 0);
  return out;
}

} // namespace planc::diag
