#include "compiler/format/Format.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"
#include "compiler/format/Layout.h"
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

/// What is not the same in the text that was made; empty: nothing.
std::string_view difference(const WrittenFile &before, std::string_view text,
                            const std::string &made) {
  source::SourceSet sources;
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  ast::Arena arena;
  const source::FileId file = sources.add("formatted", made);
  const auto after = syntax::parseWritten(file, sources, arena, emitter);
  if (!after)
    return "it no longer parses";
  if (textsOf(before, text) != textsOf(*after, made))
    return "a word or a comment would change";
  if (ast::printAst(*before.file) != ast::printAst(*after->file))
    return "its meaning would change";
  return "";
}

} // namespace

std::optional<std::string> format(source::FileId file,
                                  const source::SourceSet &sources,
                                  diag::Emitter &emitter) {
  ast::Arena arena;
  const auto written = syntax::parseWritten(file, sources, arena, emitter);
  if (!written)
    return std::nullopt;
  const std::string_view text = sources[file].text();
  std::string made = joinLines(layOut(text, *written));
  if (made == text)
    return made;
  const std::string_view why = difference(*written, text, made);
  if (why.empty())
    return made;
  emitter.report({}, diag::Kind::InternalError, "formatting `{}`: {}",
                 sources[file].name(), why);
  return std::nullopt;
}

} // namespace planc::format
