// A thousand files that nobody would write; with PLANC_FORMAT_FILES=10000 in
// the environment that many.
#include "tests/unit/Catch.h"
#include "tests/unit/format/Formatted.h"
#include "tests/unit/format/Mangle.h"

#include <cstdlib>
#include <map>
#include <memory>

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
    REQUIRE(oddLines(*once.text).empty());
    REQUIRE(styled(*once.text) == *once.text);
  }
  // What does not parse tests nothing.
  CHECK(parsed > count * 7 / 10);
}
