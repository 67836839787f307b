#include "tests/unit/Catch.h"

#include "tests/unit/syntax/Parsed.h"

#include "compiler/syntax/Prescan.h"

#include <random>

using namespace planc;

namespace {

/// A text gives a file, or at least one error: never neither, never both.
void checkEitherOr(const std::string &text) {
  Parsed parsed(text);
  bool hasErrors = !parsed.diagnostics.diagnostics.empty();
  if ((parsed.file != nullptr) == hasErrors)
    FAIL("neither an AST nor an error, or both, for: " << text);
  for (const diag::Diagnostic &d : parsed.diagnostics.diagnostics)
    if (d.span.end > text.size() || d.span.begin > d.span.end)
      FAIL("a place outside the text for: " << text);
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i)
    out += text;
  return out;
}

std::string firstKind(const std::string &text) {
  Parsed parsed(text);
  return parsed.kinds().empty() ? "" : parsed.kinds().front();
}

} // namespace

TEST_CASE("examples cut off at every byte") {
  for (const auto &path : plansIn(PLANC_EXAMPLES)) {
    std::string text = readFile(path);
    for (std::size_t length = 0; length <= text.size(); ++length)
      checkEitherOr(text.substr(0, length));
  }
}

TEST_CASE("examples without any one of their bytes, or with another there") {
  std::mt19937 random(7);
  static constexpr std::string_view kBytes = "(){}[],=|.\"# \n1a+\\@\x80";
  for (const auto &path : plansIn(PLANC_EXAMPLES)) {
    std::string text = readFile(path);
    for (std::size_t at = 0; at < text.size(); at += 1 + random() % 3) {
      std::string changed = text;
      if (random() % 2)
        changed.erase(at, 1);
      else
        changed[at] = kBytes[random() % kBytes.size()];
      checkEitherOr(changed);
    }
  }
}

TEST_CASE("words and signs at random") {
  static constexpr std::string_view kWords[] = {
      "model", "plan",  "let",  "for", "on",    "(",  ")",   "[",    "]",
      "{",     "}",     ",",    "=",   "\n",    "x",  "3",   "80GB", "if",
      "then",  "else",  "not",  "..",  "|",     ".",  "->",  "mesh", "shard",
      "over",  "batch", "with", "at",  "level", "of", "\"a", "#",    "repeat"};
  std::mt19937 random(11);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::size_t n = random() % 30; n > 0; --n) {
      text += kWords[random() % std::size(kWords)];
      text += random() % 4 ? " " : "";
    }
    checkEitherOr(text);
  }
}

TEST_CASE("bytes at random") {
  std::mt19937 random(13);
  for (int i = 0; i < 500; ++i) {
    std::string text(random() % 200, ' ');
    for (char &c : text)
      c = static_cast<char>(random());
    checkEitherOr(text);
  }
}

TEST_CASE("nesting of every kind is refused before it is followed") {
  CHECK(firstKind("let x = " + repeated("(", 10000)) == "nesting-too-deep");
  CHECK(firstKind("let x = " + repeated("f(", 10000)) == "nesting-too-deep");
  CHECK(firstKind("let x = " + repeated("[1, ", 10000)) == "nesting-too-deep");
  CHECK(firstKind("let x = " + repeated("not ", 10000)) == "nesting-too-deep");
  CHECK(firstKind("let x = " + repeated("-", 10000)) == "nesting-too-deep");
  CHECK(firstKind("let x = 1" + repeated(" + 1", 100000)) ==
        "nesting-too-deep");
  CHECK(firstKind("let x = 1" + repeated(" +\n1", 100000)) ==
        "nesting-too-deep");
  CHECK(firstKind("let x = " + repeated("if a then b else ", 10000)) ==
        "nesting-too-deep");
  CHECK(firstKind("model m() {\n" + repeated("repeat 2 as a {\n", 10000)) ==
        "nesting-too-deep");
  CHECK(firstKind("let x = a" + repeated(".a", 10000)) == "nesting-too-deep");
}

TEST_CASE("nesting below the limit parses") {
  auto deep = [](std::string_view open, std::string_view close) {
    return "let x = " + repeated(open, syntax::kMaxNesting - 1) + "1" +
           repeated(close, syntax::kMaxNesting - 1) + "\n";
  };
  CHECK(firstKind(deep("(", ")")) == "");
  CHECK(firstKind(deep("[", "]")) == "");
  CHECK(firstKind(deep("f(", ")")) == "");
  CHECK(firstKind(deep("-", "")) == "");
  CHECK(firstKind(deep("", " + 1")) == "");
  CHECK(firstKind(deep("", " ** 1")) == "");
  CHECK(firstKind("model m() {\n" +
                  repeated("repeat 2 as a {\n", syntax::kMaxNesting - 2) +
                  repeated("}\n", syntax::kMaxNesting - 1)) == "");
}

TEST_CASE("operators of other statements and arguments do not add up") {
  CHECK(firstKind(repeated("let x = 1 + 2 * 3\n", 1000)) == "");
  CHECK(firstKind("let x = f(" + repeated("1 + 2, ", 1000) + "3)\n") == "");
}

TEST_CASE("large files are refused before they are read slowly") {
  CHECK(firstKind(repeated("x ", 300000)) == "too-many-tokens");
  CHECK(firstKind(repeated("\n", 3000000)) == "too-many-tokens");
  CHECK(firstKind(repeated("#\n", 1000000)) == "too-many-tokens");
  CHECK(firstKind(std::string(source::SourceSet::kMaxFileBytes + 1, ' ')) ==
        "file-too-large");
  CHECK(firstKind(repeated("@", 1000000)) == "not-text");
  CHECK(firstKind(std::string(1000, '\0')) == "not-text");
  CHECK(firstKind(repeated("\xff", 1000)) == "not-utf8");
}

TEST_CASE("thousands of mistakes are counted, twenty shown") {
  Parsed parsed(repeated("foo bar\n", 5000));
  CHECK(parsed.diagnostics.diagnostics.size() == 20);
  Parsed brackets(repeated(")", 5000));
  CHECK(brackets.diagnostics.diagnostics.size() == 20);
}
