// Texts that are long, deep or wide: no more than linear in time and size.
#include "tests/unit/Catch.h"
#include "tests/unit/format/Formatted.h"

#include <chrono>

using namespace planc;

namespace {

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i)
    out += piece;
  return out;
}

/// Formats, twice; gives the length of what came out.
std::size_t lengthOf(const std::string &text) {
  const Formatted once(text);
  INFO(once.kinds());
  REQUIRE(once.text);
  CHECK(styled(*once.text) == *once.text);
  return once.text->size();
}

} // namespace

TEST_CASE("a long list is filled", "[hostile]") {
  const std::string text = "let a = [1" + repeated(", 1", 40'000) + "]\n";
  CHECK(lengthOf(text) < 2 * text.size());
}

TEST_CASE("a list of a line each stays one", "[hostile]") {
  const std::string text = "let a = [\n1" + repeated(",\n1", 40'000) + "\n]\n";
  CHECK(lengthOf(text) < 3 * text.size());
}

TEST_CASE("deep brackets, each on its line", "[hostile]") {
  const std::string text =
      "let a = " + repeated("[\n", 490) + "1" + repeated("\n]", 490) + "\n";
  CHECK(lengthOf(text) < 490 * 130);
  const std::string calls =
      "let a = " + repeated("f(1,\n", 240) + "1" + repeated(")", 240) + "\n";
  CHECK(lengthOf(calls) < 240 * 80);
}

TEST_CASE("a name of a megabyte moves no other line", "[hostile]") {
  const std::string name(1 << 20, 'a');
  const std::string text = "let " + name + " = 1\n" +
                           repeated("let b = 2 # c\n", 10'000) +
                           "let c = " + name + "(1,\n2,\n3)\n";
  CHECK(lengthOf(text) < 2 * text.size());
}

TEST_CASE("many blocks in one another", "[hostile]") {
  const std::string text = "model m {\n" + repeated("repeat 2 as a { ", 240) +
                           "x = 1" + repeated(" }", 240) + "\n}\n";
  CHECK(lengthOf(text) < 241 * 150);
}

TEST_CASE("many items, comments and blank lines", "[hostile]") {
  const std::string text =
      "model m {" + repeated("\n\n\n# c\n\nx = 1 # d\n", 15'000) + "}";
  CHECK(lengthOf(text) < 2 * text.size());
}
