#include "compiler/diag/Consumers.h"
#include "compiler/diag/Snippet.h"

#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::diag {

namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kReset = "\x1b[0m";

/// One diagnostic being written.
class Writer {
public:
  Writer(const source::SourceSet &sources, Colour colour, Severity severity)
      : sources_(sources), colour_(colour), severity_(severity) {}

  std::string write(const Diagnostic &d) {
    if (d.span.isValid())
      out_ += coloured(kBold, place(d.span) + ":") + " ";
    out_ += coloured(
        severity_ == Severity::Error ? kRed : kYellow,
        fmt::format("{}[{}]:", spelling(severity_), infoOf(d.kind).name));
    out_ += " " + coloured(kBold, printable(d.message)) + "\n";
    snippets(d);
    for (const Note &note : d.notes)
      remark("note", note);
    for (const Note &context : d.contexts)
      remark("note", context);
    for (const std::string &help : d.helps)
      remark("help", {help, SourceSpan()});
    if (d.helps.empty())
      for (const Fix &fix : d.fixes)
        remark("help", {describe(fix), SourceSpan()});
    remark("more", {fmt::format("planc explain {}", infoOf(d.kind).name),
                    SourceSpan()});
    return std::move(out_);
  }

private:
  std::string coloured(std::string_view colour, std::string text) const {
    if (colour_ == Colour::Never)
      return text;
    return fmt::format("{}{}{}", colour, text, kReset);
  }

  std::string place(SourceSpan span) const {
    source::LineColumn at = sources_.lineColumn(span);
    return fmt::format("{}:{}:{}", printable(sources_[span.file].name()),
                       at.line, at.column);
  }

  static std::string describe(const Fix &fix) {
    if (fix.replacement.empty())
      return "remove it";
    return fmt::format("{} `{}`",
                       fix.span.begin == fix.span.end ? "insert" : "write",
                       fix.replacement);
  }

  /// The line of the diagnostic with every label on it, then other lines that
  /// labels are on, in the order of the labels.
  void snippets(const Diagnostic &d) {
    if (!d.span.isValid() || sources_[d.span.file].text().empty())
      return;
    std::vector<Label> rest = d.labels;
    snippetOf({d.span, ""}, rest);
    SourceSpan last = d.span;
    while (!rest.empty()) {
      Label next = rest.front();
      rest.erase(rest.begin());
      if (next.span.file != last.file)
        out_ += fmt::format("   at {}\n", place(next.span));
      last = next.span;
      snippetOf(next, rest);
    }
  }

  /// Shows the line `first` starts on; takes the labels on it out of `rest`.
  void snippetOf(const Label &first, std::vector<Label> &rest) {
    const source::SourceFile &file = sources_[first.span.file];
    std::uint32_t number = sources_.lineColumn(first.span).line;
    std::vector<Label> here{first};
    std::erase_if(rest, [&](const Label &label) {
      bool same = label.span.file == first.span.file &&
                  sources_.lineColumn(label.span).line == number;
      if (same)
        here.push_back(label);
      return same;
    });
    std::vector<Mark> marks;
    for (const Label &label : here) {
      std::size_t begin = sources_.lineColumn(label.span).column - 1;
      marks.push_back(
          {begin, begin + (label.span.end - label.span.begin), label.text});
    }
    Snippet snippet = makeSnippet(file.line(number), std::move(marks));
    std::string digits = std::to_string(number);
    out_ += fmt::format("   {:>2} | {}\n", digits, snippet.line);
    for (const std::string &below : snippet.below)
      out_ +=
          fmt::format("   {:>2} | {}\n",
                      std::string(std::max<std::size_t>(2, digits.size()), ' '),
                      coloured(kGreen, below));
  }

  void remark(std::string_view word, const Note &note) {
    out_ += fmt::format("   {}: {}", word, printable(note.text));
    if (note.span.isValid())
      out_ +=
          fmt::format(" ({}:{})", printable(sources_[note.span.file].name()),
                      sources_.lineColumn(note.span).line);
    out_ += "\n";
  }

  const source::SourceSet &sources_;
  Colour colour_;
  Severity severity_;
  std::string out_;
};

} // namespace

void ConsoleConsumer::handle(const Diagnostic &diagnostic) {
  *out_ << Writer(*sources_, colour_, levels_.of(diagnostic)).write(diagnostic);
}

void ConsoleConsumer::handleSuppressed(std::size_t count) {
  *out_ << fmt::format("{} more error{} not shown\n", count,
                       count == 1 ? "" : "s");
}

} // namespace planc::diag
