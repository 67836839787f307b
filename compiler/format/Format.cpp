#include "compiler/format/Format.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"
#include "compiler/format/Directives.h"
#include "compiler/syntax/Written.h"

#include <algorithm>

namespace planc::format {

namespace {

using syntax::TokenRole;
using syntax::WrittenFile;

struct Texts {
  std::vector<std::string_view> words, comments;
  bool operator==(const Texts &) const = default;
};

/// Words and comments, each in order: a comma may pass a comment.
Texts textsOf(const WrittenFile &written, std::string_view text) {
  Texts out;
  for (const syntax::WrittenToken &token : written.tokens) {
    const std::string_view all =
        text.substr(token.span.begin, token.span.end - token.span.begin);
    if (token.role == TokenRole::Comment)
      out.comments.push_back(all.substr(0, all.find_last_not_of(" \t") + 1));
    else
      out.words.push_back(all);
  }
  return out;
}

/// A text that was made, read again.
class Reread {
public:
  explicit Reread(const std::string &made) {
    diag::CaptureConsumer captured;
    diag::Emitter emitter(captured);
    const source::FileId file = sources_.add("formatted", made);
    written_ = syntax::parseWritten(file, sources_, arena_, emitter);
  }

  /// What is not the same in it; empty: nothing.
  std::string_view difference(const WrittenFile &before, std::string_view text,
                              std::string_view made) const {
    if (!written_)
      return "it no longer parses";
    if (textsOf(before, text) != textsOf(*written_, made))
      return "a word or a comment would change";
    if (ast::printAst(*before.file) != ast::printAst(*written_->file))
      return "its meaning would change";
    return "";
  }

  const WrittenFile &written() const { return *written_; }

private:
  source::SourceSet sources_;
  ast::Arena arena_;
  std::optional<WrittenFile> written_;
};

/// Lines whose comments would be about something else if they were broken.
class Keeper {
public:
  Keeper(std::string_view text, const WrittenFile &written)
      : directives_(readDirectives(text, written)),
        isKept_(directives_.size()) {}

  const std::vector<KeptLine> &lines() const { return lines_; }

  /// Are there more of them than were kept. The last time keeps all.
  bool keepMore(std::string_view made, const WrittenFile &written) {
    const std::vector<Directive> after = readDirectives(made, written);
    const std::size_t before = lines_.size();
    const bool isLast = ++times_ >= kMostTimes;
    for (std::size_t i = 0; i < directives_.size(); ++i)
      if (!isKept_[i] && directives_[i].isAboutSomething() &&
          !directives_[i].isAboutSame(after[i]))
        keep(i);
    if (isLast && lines_.size() != before)
      for (std::size_t i = 0; i < directives_.size(); ++i)
        if (!isKept_[i] && directives_[i].isAboutSomething())
          keep(i);
    return lines_.size() != before;
  }

private:
  static constexpr int kMostTimes = 4;

  void keep(std::size_t directive) {
    isKept_[directive] = true;
    lines_.push_back(directives_[directive].line);
  }

  std::vector<Directive> directives_;
  std::vector<bool> isKept_;
  std::vector<KeptLine> lines_;
  int times_ = 0;
};

} // namespace

std::optional<std::string> format(source::FileId file,
                                  const source::SourceSet &sources,
                                  diag::Emitter &emitter) {
  ast::Arena arena;
  const auto written = syntax::parseWritten(file, sources, arena, emitter);
  if (!written)
    return std::nullopt;
  const std::string_view text = sources[file].text();
  Keeper keeper(text, *written);
  for (;;) {
    std::string made = joinLines(layOut(text, *written, keeper.lines()));
    if (made == text)
      return made;
    const Reread again(made);
    const std::string_view why = again.difference(*written, text, made);
    if (!why.empty()) {
      emitter.report({}, diag::Kind::InternalError, "formatting `{}`: {}",
                     sources[file].name(), why);
      return std::nullopt;
    }
    if (!keeper.keepMore(made, again.written()))
      return made;
  }
}

} // namespace planc::format
