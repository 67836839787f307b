#include "compiler/diag/Verifier.h"

#include <fmt/format.h>

#include <charconv>

namespace planc::diag {

namespace {

/// Reads one comment from left to right.
class Reader {
public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool skip(std::string_view word) {
    if (rest_.substr(0, word.size()) != word)
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skipSpaces() {
    while (skip(" "))
      ;
  }
  std::optional<std::string> until(std::string_view end) {
    std::size_t at = rest_.find(end);
    if (at == std::string_view::npos)
      return std::nullopt;
    std::string out(rest_.substr(0, at));
    rest_.remove_prefix(at + end.size());
    return out;
  }
  std::optional<std::uint32_t> number() {
    std::uint32_t value = 0;
    auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc())
      return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

private:
  std::string_view rest_;
};

/// `@+1`, `@-2`, `@*` or nothing → the line meant.
std::optional<std::uint32_t> readLine(Reader &reader, std::uint32_t here) {
  if (reader.skip("@*"))
    return 0;
  if (reader.skip("@+")) {
    auto by = reader.number();
    return by ? std::optional(here + *by) : std::nullopt;
  }
  if (reader.skip("@-")) {
    auto by = reader.number();
    return by && *by < here ? std::optional(here - *by) : std::nullopt;
  }
  return here;
}

std::optional<Expectation> readOne(std::string_view text, std::uint32_t here) {
  Reader reader(text);
  Expectation out;
  out.writtenOn = here;
  if (reader.skip("error"))
    out.severity = Severity::Error;
  else if (reader.skip("warning"))
    out.severity = Severity::Warning;
  else if (reader.skip("remark"))
    out.severity = Severity::Remark;
  else
    return std::nullopt;
  std::optional<std::uint32_t> line = readLine(reader, here);
  if (!line)
    return std::nullopt;
  out.line = *line;
  if (reader.skip("[")) {
    auto kind = reader.until("]");
    if (!kind || !kindByName(*kind))
      return std::nullopt;
    out.kind = *kind;
  }
  reader.skipSpaces();
  if (!reader.skip("{{"))
    return std::nullopt;
  auto wanted = reader.until("}}");
  if (!wanted || wanted->empty())
    return std::nullopt;
  out.text = *wanted;
  return out;
}

bool matches(const Expectation &expected, const Diagnostic &found,
             std::uint32_t line) {
  return expected.severity == found.severity() &&
         (expected.line == 0 || expected.line == line) &&
         (expected.kind.empty() || expected.kind == infoOf(found.kind).name) &&
         found.message.find(expected.text) != std::string::npos;
}

} // namespace

Expectations readExpectations(const source::SourceFile &file) {
  static constexpr std::string_view kMarker = "expected-";
  Expectations out;
  for (std::uint32_t n = 1; n <= file.lineCount(); ++n) {
    std::string_view line = file.line(n);
    std::size_t comment = line.find('#');
    if (comment == std::string_view::npos)
      continue;
    for (std::size_t at = line.find(kMarker, comment + 1);
         at != std::string_view::npos;
         at = line.find(kMarker, at + kMarker.size())) {
      // Not in `[expected-name]` and the like.
      if (line[at - 1] != ' ' && line[at - 1] != '#')
        continue;
      if (auto one = readOne(line.substr(at + kMarker.size()), n))
        out.list.push_back(std::move(*one));
      else
        out.mistakes.push_back(fmt::format(
            "line {}: cannot read this expectation: {}", n, line.substr(at)));
    }
  }
  return out;
}

std::vector<std::string> compare(source::FileId file,
                                 const source::SourceSet &sources,
                                 const std::vector<Diagnostic> &found) {
  Expectations expected = readExpectations(sources[file]);
  std::vector<std::string> out = expected.mistakes;
  std::vector<bool> met(expected.list.size());
  for (const Diagnostic &d : found) {
    bool here = d.span.file == file;
    std::uint32_t line = here ? sources.lineColumn(d.span).line : 0;
    bool matched = false;
    for (std::size_t i = 0; here && i < met.size() && !matched; ++i)
      if (!met[i] && matches(expected.list[i], d, line))
        met[i] = matched = true;
    if (!matched)
      out.push_back(fmt::format("line {}: not expected: {}[{}]: {}", line,
                                spelling(d.severity()), infoOf(d.kind).name,
                                d.message));
  }
  for (std::size_t i = 0; i < met.size(); ++i)
    if (!met[i])
      out.push_back(fmt::format("line {}: expected, not found: {} {{{{{}}}}}",
                                expected.list[i].writtenOn,
                                expected.list[i].kind, expected.list[i].text));
  return out;
}

} // namespace planc::diag
