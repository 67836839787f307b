#include "compiler/lint/Silence.h"

#include "compiler/diag/Kinds.h"

#include <algorithm>

namespace planc::lint {

using diag::Kind;
using source::SourceSpan;

namespace {

constexpr std::string_view kBlanks = " \t";

/// The names that may be silenced.
const std::vector<std::string_view> &lintNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (std::size_t i = 0; i < diag::kindCount(); ++i)
      if (const auto &info = diag::infoOf(static_cast<Kind>(i));
          info.severity != diag::Severity::Error)
        out.push_back(info.name);
    return out;
  }();
  return names;
}

bool isBlank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

/// A name that may be silenced, and where it stands.
struct Named {
  Kind kind;
  SourceSpan span;
};

/// Walks one comment.
class Reader {
public:
  Reader(SourceSpan comment, const source::SourceSet &sources,
         diag::Emitter &emitter)
      : comment_(comment), text_(sources.text(comment)), emitter_(emitter) {}

  void read(std::vector<Named> &out) {
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

  void name(std::size_t begin, std::size_t end, std::vector<Named> &out) {
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
      out.push_back({*kind, span});
    }
  }

  SourceSpan comment_;
  std::string_view text_;
  diag::Emitter &emitter_;
  std::size_t at_ = 0;
};

/// The line that each comment is about; the last comment first, so that each
/// line is looked at once.
std::vector<std::uint32_t> linesOf(std::span<const ast::Comment> comments,
                                   const source::SourceFile &file) {
  std::vector<std::uint32_t> out(comments.size());
  auto below = static_cast<std::uint32_t>(file.lineCount());
  std::uint32_t code = 0; // the first line with code after `below`, if any
  for (std::size_t i = comments.size(); i-- > 0;) {
    const source::LineColumn at = file.lineColumn(comments[i].span.begin);
    for (; below > at.line; --below) {
      const std::string_view text = file.line(below);
      const std::size_t first = text.find_first_not_of(kBlanks);
      if (first != std::string_view::npos && text[first] != '#')
        code = below;
    }
    const bool isAlone = isBlank(file.line(at.line).substr(0, at.column - 1));
    out[i] = isAlone && code != 0 ? code : at.line;
  }
  return out;
}

} // namespace

void Allowances::read(const ast::File &file, const source::SourceSet &sources,
                      diag::Emitter &emitter) {
  const auto lines = linesOf(file.comments, sources[file.file]);
  std::vector<Named> names;
  for (std::size_t i = 0; i < file.comments.size(); ++i) {
    names.clear();
    Reader(file.comments[i].span, sources, emitter).read(names);
    for (const Named &name : names) {
      const Key key{file.file, lines[i], name.kind};
      allowances_.push_back({key, name.span});
      isUsed_.emplace(key, false);
    }
  }
}

bool Allowances::silences(const diag::Diagnostic &diagnostic,
                          const source::SourceSet &sources) {
  if (diagnostic.severity() == diag::Severity::Error ||
      !diagnostic.span.isValid())
    return false;
  const auto at =
      isUsed_.find({diagnostic.span.file,
                    sources.lineColumn(diagnostic.span).line, diagnostic.kind});
  if (at == isUsed_.end())
    return false;
  at->second = true;
  return true;
}

void Allowances::reportUnused(std::span<const SourceSpan> compiled,
                              const source::SourceSet &sources,
                              diag::Emitter &emitter) const {
  if (compiled.empty())
    return;
  const source::SourceFile &file = sources[compiled.front().file];
  std::map<std::uint32_t, std::uint32_t> lastOf; // by the first line
  for (const SourceSpan &span : compiled) {
    std::uint32_t &last = lastOf[file.lineColumn(span.begin).line];
    last = std::max(last, file.lineColumn(span.end).line);
  }
  for (const Allowance &allowance : allowances_) {
    const auto [in, line, kind] = allowance.key;
    const auto after = lastOf.upper_bound(line);
    if (in != compiled.front().file || after == lastOf.begin() ||
        std::prev(after)->second < line || isUsed_.at(allowance.key))
      continue;
    emitter
        .report(allowance.span, Kind::AllowUnused,
                "there is no `{}` on line {} to silence",
                diag::infoOf(kind).name, line)
        .help("take the comment away");
  }
}

} // namespace planc::lint
