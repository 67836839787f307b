// A thousand files that nobody would write; with PLANC_FORMAT_FILES=10000 in
// the environment that many.
#include "tests/unit/Catch.h"
#include "tests/unit/format/Formatted.h"
#include "tests/unit/format/Mangle.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>

using namespace planc;

namespace {

unsigned fileCount() {
  const char *asked = std::getenv("PLANC_FORMAT_FILES");
  return asked == nullptr
             ? 1000
             : static_cast<unsigned>(std::strtoul(asked, nullptr, 10));
}

std::vector<std::unique_ptr<Pattern>> patterns() {
  std::vector<std::unique_ptr<Pattern>> out;
  for (const std::filesystem::path &path : corpus()) {
    auto pattern = std::make_unique<Pattern>(readFile(path));
    if (pattern->written && !pattern->written->items.empty())
      out.push_back(std::move(pattern));
  }
  return out;
}

/// Comments by how often each is there.
std::map<std::string, int> commentsOf(const std::string &text) {
  std::map<std::string, int> out;
  source::SourceSet sources;
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  ast::Arena arena;
  const auto id = sources.add("t.plan", text);
  if (const auto *file = syntax::parseFile(id, sources, arena, emitter))
    for (const ast::Comment &comment : file->comments) {
      std::string words(sources.text(comment.span));
      words.resize(words.find_last_not_of(" \t") + 1);
      ++out[words];
    }
  return out;
}

/// The line that a place in the text is on; and one past its end.
std::pair<std::size_t, std::size_t> lineAt(const std::string &text,
                                           std::size_t at) {
  const std::size_t before =
      at == 0 ? std::string::npos : text.find_last_of("\r\n", at - 1);
  return {before + 1, std::min(text.find_first_of("\r\n", at), text.size())};
}

/// What each comment to planc is about: the words of its line, or of the next
/// one that has any. From the text alone, as the lints' page has it.
std::map<std::string, std::string> silencedOf(const std::string &text) {
  std::map<std::string, std::string> out;
  source::SourceSet sources;
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  ast::Arena arena;
  const auto id = sources.add("t.plan", text);
  const auto *file = syntax::parseFile(id, sources, arena, emitter);
  std::string blank = text;
  for (const ast::Comment &comment : file->comments)
    std::fill(blank.begin() + comment.span.begin,
              blank.begin() + comment.span.end, ' ');
  for (const ast::Comment &comment : file->comments) {
    const std::string name(sources.text(comment.span));
    if (name.find("planc:") == std::string::npos)
      continue;
    auto [begin, end] = lineAt(blank, comment.span.begin);
    const auto blanks = [&] {
      return blank.find_first_not_of(" \t", begin) >= end;
    };
    while (blanks() && end < blank.size())
      std::tie(begin, end) = lineAt(blank, end + 1);
    std::string &words = out[name.substr(0, name.find_last_not_of(" \t") + 1)];
    for (const char c : blank.substr(begin, end - begin))
      if (std::string_view(" \t,{})]").find(c) == std::string_view::npos)
        words += c;
  }
  return out;
}

/// Those about a line with more than brackets and commas are about the same.
std::string movedSilencers(const std::string &before,
                           const std::string &after) {
  std::string out;
  std::map<std::string, std::string> to = silencedOf(after);
  for (const auto &[comment, words] : silencedOf(before))
    if (!words.empty() && to[comment] != words)
      out += fmt::format("{}: {} became {}\n", comment, words, to[comment]);
  return out;
}

/// Lines that break a rule that holds for every line.
std::string oddLines(const std::string &text) {
  std::string out, before = "x";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.find('\r') != std::string::npos ||
        (!line.empty() && (line.back() == ' ' || line.back() == '\t')) ||
        (line.empty() && before.empty()))
      out += line + "\n";
    before = line;
  }
  return out;
}

} // namespace

TEST_CASE("mangled files come out with the same tree and comments, once for "
          "all",
          "[generated]") {
  const auto from = patterns();
  unsigned parsed = 0;
  const unsigned count = fileCount();
  for (unsigned seed = 0; seed < count; ++seed) {
    std::string text = Mangler(seed).make(*from[seed % from.size()]) +
                       "\nlet made = " + RandomExpr(seed).make(seed % 5);
    const std::string tree = treeOf(text);
    if (tree.empty())
      continue;
    ++parsed;
    INFO("seed " << seed << "\n" << text);
    const Formatted once(text);
    INFO(once.kinds());
    REQUIRE(once.text);
    INFO(*once.text);
    REQUIRE(treeOf(*once.text) == tree);
    REQUIRE(commentsOf(*once.text) == commentsOf(text));
    REQUIRE(movedSilencers(text, *once.text) == "");
    REQUIRE(oddLines(*once.text).empty());
    REQUIRE(styled(*once.text) == *once.text);
  }
  // What does not parse tests nothing.
  CHECK(parsed > count * 7 / 10);
}
