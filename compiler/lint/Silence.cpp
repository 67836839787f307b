#include "compiler/lint/Silence.h"

#include "compiler/diag/Kinds.h"

#include <algorithm>

namespace planc::lint {

using diag::Kind;
using source::SourceSpan;

namespace {

constexpr std::string_view kBlanks = " \t";

/// The names that may be silenced.
std::vector<std::string_view> lintNames() {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < diag::kindCount(); ++i)
    if (const auto &info = diag::infoOf(static_cast<Kind>(i));
        info.severity != diag::Severity::Error)
      out.push_back(info.name);
  return out;
}

bool isBlank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

/// Walks one comment.
class Reader {
public:
  Reader(SourceSpan comment, const source::SourceSet &sources,
         diag::Emitter &emitter)
      : comment_(comment), sources_(sources), text_(sources.text(comment)),
        emitter_(emitter) {}

  void read(std::vector<Allowance> &out) {
    if (!skip("#") || !skip("planc:") || !skip("allow") || !skip("("))
      return;
    const std::size_t close = text_.find(')', at_);
    if (close == std::string_view::npos)
      return;
    while (at_ < close) {
      const std::size_t comma = std::min(text_.find(',', at_), close);
      name(at_, comma, out);
      at_ = comma + 1;
    }
    if (isBlank(text_.substr(close + 1)))
      emitter_
          .report(comment_, Kind::AllowWithoutReason,
                  "this silences a lint and does not say why")
          .help("say it after the `)`");
  }

private:
  bool skip(std::string_view word) {
    at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    if (text_.substr(at_, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }

  void name(std::size_t begin, std::size_t end, std::vector<Allowance> &out) {
    begin = std::min(text_.find_first_not_of(kBlanks, begin), end);
    end = text_.find_last_not_of(kBlanks, end - 1) + 1;
    if (begin >= end)
      return;
    const std::string_view name = text_.substr(begin, end - begin);
    const SourceSpan span{comment_.file,
                          comment_.begin + static_cast<std::uint32_t>(begin),
                          comment_.begin + static_cast<std::uint32_t>(end)};
    const auto kind = diag::kindByName(name);
    if (!kind) {
      emitter_.report(span, Kind::AllowUnknown, "no lint is called `{}`", name)
          .suggest(span, diag::nearestName(name, lintNames()));
    } else if (diag::infoOf(*kind).severity == diag::Severity::Error) {
      emitter_.report(span, Kind::AllowUnknown,
                      "`{}` is an error, which nothing silences", name);
    } else {
      out.push_back({std::string(name), span, lineOf(), false});
    }
  }

  std::uint32_t lineOf() const {
    const source::SourceFile &file = sources_[comment_.file];
    const source::LineColumn at = file.lineColumn(comment_.begin);
    if (!isBlank(file.line(at.line).substr(0, at.column - 1)))
      return at.line;
    for (auto line = at.line + 1; line <= file.lineCount(); ++line) {
      const std::string_view text = file.line(line);
      const std::size_t first = text.find_first_not_of(kBlanks);
      if (first != std::string_view::npos && text[first] != '#')
        return line;
    }
    return at.line;
  }

  SourceSpan comment_;
  const source::SourceSet &sources_;
  std::string_view text_;
  diag::Emitter &emitter_;
  std::size_t at_ = 0;
};

} // namespace

std::vector<Allowance> readAllowances(const ast::File &file,
                                      const source::SourceSet &sources,
                                      diag::Emitter &emitter) {
  std::vector<Allowance> out;
  for (const ast::Comment &comment : file.comments)
    Reader(comment.span, sources, emitter).read(out);
  return out;
}

bool isSilenced(const diag::Diagnostic &diagnostic,
                const source::SourceSet &sources,
                std::vector<Allowance> &allowances) {
  if (diagnostic.severity() == diag::Severity::Error ||
      !diagnostic.span.isValid())
    return false;
  const std::string_view name = diag::infoOf(diagnostic.kind).name;
  const std::uint32_t line = sources.lineColumn(diagnostic.span).line;
  bool found = false;
  for (Allowance &allowance : allowances)
    if (allowance.span.file == diagnostic.span.file && allowance.line == line &&
        allowance.name == name)
      found = allowance.isUsed = true;
  return found;
}

void reportUnused(const std::vector<Allowance> &allowances,
                  diag::Emitter &emitter) {
  for (const Allowance &allowance : allowances)
    if (!allowance.isUsed)
      emitter
          .report(allowance.span, Kind::AllowUnused,
                  "there is no `{}` on line {} to silence", allowance.name,
                  allowance.line)
          .help("take the comment away");
}

} // namespace planc::lint
