#include "tests/unit/Catch.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"

#include "llvm/Support/raw_ostream.h"

using namespace planc;
using diag::Kind;
using source::SourceSpan;

namespace {

/// The console's text for what `make` reports about a file.
template <class F>
std::string shown(const std::string &text, F make,
                  diag::Colour colour = diag::Colour::Never) {
  source::SourceSet sources;
  source::FileId file = sources.add("plans/qwen.plan", text);
  std::string out;
  llvm::raw_string_ostream stream(out);
  diag::ConsoleConsumer console(stream, sources, colour);
  diag::Emitter emitter(console);
  make(emitter, file, sources);
  emitter.finish();
  return stream.str();
}

SourceSpan find(const source::SourceSet &sources, source::FileId file,
                std::string_view word) {
  std::size_t at = sources[file].text().find(word);
  REQUIRE(at != std::string_view::npos);
  return {file, static_cast<std::uint32_t>(at),
          static_cast<std::uint32_t>(at + word.size())};
}

} // namespace

TEST_CASE("an error shows its line, the place, reasons and the way out") {
  std::string text = "mesh tp = 8\n"
                     "  shard     heads, kv_heads, ffn over tp\n";
  std::string out = shown(
      text, [](diag::Emitter &e, source::FileId f, const source::SourceSet &s) {
        e.report(find(s, f, "heads"), Kind::ExpectedName,
                 "`{}` = {} cannot be cut {} ways", "heads", 28, 8)
            .label(find(s, f, "over tp"), "tp = {} (line {})", 8, 1)
            .note(find(s, f, "mesh"), "`heads` is {} in qwen2_5_7b", 28)
            .help("tp may be {}", "1, 2, 4, 7 or 14");
      });
  CHECK(out ==
        "plans/qwen.plan:2:13: error[expected-name]: `heads` = 28 cannot be "
        "cut 8 ways\n"
        "    2 |   shard     heads, kv_heads, ffn over tp\n"
        "      |             ^^^^^                ^^^^^^^ tp = 8 (line 1)\n"
        "   note: `heads` is 28 in qwen2_5_7b (plans/qwen.plan:1)\n"
        "   help: tp may be 1, 2, 4, 7 or 14\n"
        "   more: planc explain expected-name\n");
}

TEST_CASE("labels without room go below, those of other lines after") {
  std::string out =
      shown("let a = f(b\nlet c = 1\n",
            [](diag::Emitter &e, source::FileId f, const source::SourceSet &s) {
              e.report(find(s, f, "b"), Kind::ExpectedName, "x")
                  .label(find(s, f, "f"), "opened")
                  .label(find(s, f, "c"), "there");
            });
  CHECK(out == "plans/qwen.plan:1:11: error[expected-name]: x\n"
               "    1 | let a = f(b\n"
               "      |         ^ ^\n"
               "      |         opened\n"
               "    2 | let c = 1\n"
               "      |     ^ there\n"
               "   more: planc explain expected-name\n");
}

TEST_CASE("a fix without words of its own is a help") {
  std::string out =
      shown("let a = b = 3", [](diag::Emitter &e, source::FileId f,
                                const source::SourceSet &) {
        e.report({f, 10, 11}, Kind::SingleEquals, "x").fix({f, 10, 11}, "==");
      });
  CHECK(out.find("   help: write `==`\n") != std::string::npos);
}

TEST_CASE("what a terminal would obey is escaped") {
  std::string out =
      shown("let \x1b[31m\xff = 3\twide\n",
            [](diag::Emitter &e, source::FileId f, const source::SourceSet &s) {
              e.report(find(s, f, "wide"), Kind::ExpectedName, "found {}",
                       "\x1b[2J\xe2\x80\xae");
            });
  CHECK(out.find('\x1b') == std::string::npos);
  CHECK(out.find("\xe2\x80\xae") == std::string::npos);
  CHECK(out.find("found \\x1B[2J\\xE2\\x80\\xAE\n") != std::string::npos);
  CHECK(out.find("    1 | let \\x1B[31m\\xFF = 3    wide\n"
                 "      | " +
                 std::string(24, ' ') + "^^^^\n") != std::string::npos);
}

TEST_CASE("of a long line what is near the place is shown") {
  std::string text = std::string(5000, 'a') + "HERE" + std::string(5000, 'b');
  std::string out = shown(
      text, [](diag::Emitter &e, source::FileId f, const source::SourceSet &s) {
        e.report(find(s, f, "HERE"), Kind::ExpectedName, "x");
      });
  CHECK(out.size() < 800);
  std::size_t line = out.find("HERE");
  std::size_t caret = out.find("^^^^");
  REQUIRE(line != std::string::npos);
  REQUIRE(caret != std::string::npos);
  std::size_t lineStart = out.rfind('\n', line);
  std::size_t caretStart = out.rfind('\n', caret);
  // `…` is three bytes and one column.
  CHECK(line - lineStart - 2 == caret - caretStart);
}

TEST_CASE("wide characters move the caret by their columns") {
  std::string out =
      shown("# \xe6\xbc\xa2\xc3\xa9 x",
            [](diag::Emitter &e, source::FileId f, const source::SourceSet &s) {
              e.report(find(s, f, "x"), Kind::ExpectedName, "m");
            });
  CHECK(out.find("\n      |       ^\n") != std::string::npos);
}

TEST_CASE("places at and past the end of the text") {
  for (std::uint32_t at : {5u, 6u, 100u}) {
    std::string out = shown("let a\n", [at](diag::Emitter &e, source::FileId f,
                                            const source::SourceSet &) {
      e.report({f, at, at}, Kind::ExpectedName, "m");
    });
    CHECK(out.find("error[expected-name]: m\n") != std::string::npos);
  }
}

TEST_CASE("a diagnostic without a place, in a context") {
  std::string out = shown(
      "", [](diag::Emitter &e, source::FileId, const source::SourceSet &) {
        diag::ContextScope outer(e, SourceSpan(), "in plan `p`");
        diag::ContextScope inner(e, SourceSpan(), "in model `m`");
        e.report(SourceSpan(), Kind::NotUtf8, "m");
      });
  CHECK(out == "error[not-utf8]: m\n"
               "   note: in model `m`\n"
               "   note: in plan `p`\n"
               "   more: planc explain not-utf8\n");
}

TEST_CASE("colour only when asked for") {
  auto make = [](diag::Emitter &e, source::FileId f,
                 const source::SourceSet &) {
    e.report({f, 0, 3}, Kind::ExpectedName, "m");
  };
  CHECK(shown("let", make).find("\x1b[") == std::string::npos);
  CHECK(shown("let", make, diag::Colour::Always).find("\x1b[1;31merror") !=
        std::string::npos);
}
