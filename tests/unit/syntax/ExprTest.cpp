#include "tests/unit/Catch.h"

#include "tests/unit/syntax/Parsed.h"

#include "llvm/Support/Casting.h"

using namespace planc;
using llvm::cast;
using llvm::isa;

namespace {

/// An expression printed after parsing, or what was reported.
std::string roundTrip(const std::string &text) {
  Parsed parsed("let x = " + text + "\n");
  if (!parsed.file)
    return parsed.kinds().empty() ? "(nothing)" : parsed.kinds().front();
  return ast::printExpr(*parsed.decl<ast::LetDecl>(0).value);
}

} // namespace

TEST_CASE("operators bind as in arithmetic") {
  CHECK(roundTrip("(1 + 2) * 3") == "(1 + 2) * 3");
  CHECK(roundTrip("1 + (2 * 3)") == "1 + 2 * 3");
  CHECK(roundTrip("(1 - 2) - 3") == "1 - 2 - 3");
  CHECK(roundTrip("1 - (2 - 3)") == "1 - (2 - 3)");
  CHECK(roundTrip("2 ** (3 ** 2)") == "2 ** 3 ** 2");
  CHECK(roundTrip("(2 ** 3) ** 2") == "(2 ** 3) ** 2");
  CHECK(roundTrip("-(2 ** 2)") == "-2 ** 2");
  CHECK(roundTrip("(-2) ** 2") == "(-2) ** 2");
  CHECK(roundTrip("2 ** -1") == "2 ** (-1)");
  CHECK(roundTrip("(a // b) mod c / d") == "a // b mod c / d");
  CHECK(roundTrip("not (a == b)") == "not a == b");
  CHECK(roundTrip("(not a) == b") == "(not a) == b");
  CHECK(roundTrip("(a and b) or c") == "a and b or c");
  CHECK(roundTrip("a and (b or c)") == "a and (b or c)");
  CHECK(roundTrip("(1 + 2)..(3 * 4)") == "1 + 2..3 * 4");
  CHECK(roundTrip("if a then b else (c + 1)") == "if a then b else c + 1");
  CHECK(roundTrip("(if a then b else c) + 1") == "(if a then b else c) + 1");
  CHECK(roundTrip("[5] + 10 * [6] + [5]") == "[5] + 10 * [6] + [5]");
}

TEST_CASE("printing an expression and parsing it gives it again") {
  for (const char *text :
       {"a.b.c(1, x = [2, 3.5], y = \"q\\\"\\\\\\n\")", "1..32", "-x ** 2 // 3",
        "if a < b then [] else f()", "38%", "450GB/s", "1F1B", "true",
        "not a and b != c or d >= 2"}) {
    std::string once = roundTrip(text);
    CHECK(once == text);
    CHECK(roundTrip(once) == once);
  }
}

TEST_CASE("numbers, quantities and ranges are told apart") {
  Parsed parsed("let a = [80GiB, 989.4TFLOP/s, 38%, 5stages, 80GB/size, 1e3, "
                "1e3s, 80GB / size, 80GB/8, 1..32, 1.5..2, 0]\n");
  REQUIRE(parsed.file);
  auto items = cast<ast::ListExpr>(parsed.decl<ast::LetDecl>(0).value)->items;
  auto quantity = [&](std::size_t i) {
    return *cast<ast::QuantityExpr>(items[i]);
  };
  CHECK(quantity(0).isInteger);
  CHECK(quantity(0).integer == 80);
  CHECK(quantity(0).unit == "GiB");
  CHECK(parsed.sources.text(quantity(0).unitSpan) == "GiB");
  CHECK(!quantity(1).isInteger);
  CHECK(quantity(1).value == 989.4);
  CHECK(quantity(1).unit == "TFLOP/s");
  CHECK(quantity(2).unit == "%");
  CHECK(quantity(3).unit == "stages");
  CHECK(quantity(4).unit == "GB/size");
  CHECK(cast<ast::RealExpr>(items[5])->value == 1000.0);
  CHECK(quantity(6).value == 1000.0);
  CHECK(quantity(6).unit == "s");
  CHECK(cast<ast::BinaryExpr>(items[7])->op == ast::BinaryOperator::Divide);
  CHECK(cast<ast::BinaryExpr>(items[8])->op == ast::BinaryOperator::Divide);
  CHECK(isa<ast::RangeExpr>(items[9]));
  CHECK(isa<ast::RangeExpr>(items[10]));
  CHECK(cast<ast::IntegerExpr>(items[11])->value == 0);
}

TEST_CASE("numbers that do not fit are refused") {
  CHECK(roundTrip("9223372036854775807") == "9223372036854775807");
  CHECK(roundTrip("9223372036854775808") == "number-too-large");
  CHECK(roundTrip("1e308") == "1e+308");
  CHECK(roundTrip("1e309") == "number-too-large");
  CHECK(roundTrip("1e999GB") == "number-too-large");
  CHECK(roundTrip("1e-999") == "0.0");
}

TEST_CASE("texts keep their escapes and UTF-8") {
  Parsed parsed(
      "let a = \"q\\\"\\\\\\n\\t caf\xc3\xa9 \xf0\x9f\x98\x80\" + b\n");
  REQUIRE(parsed.file);
  auto *sum = cast<ast::BinaryExpr>(parsed.decl<ast::LetDecl>(0).value);
  CHECK(cast<ast::TextExpr>(sum->left)->value ==
        "q\"\\\n\t caf\xc3\xa9 \xf0\x9f\x98\x80");
  // Places after characters of several bytes are bytes again.
  CHECK(parsed.sources.text(sum->opSpan) == "+");
  CHECK(parsed.sources.text(sum->right->span) == "b");
}

TEST_CASE("arguments by position come first, names come once") {
  CHECK(roundTrip("f(1, a = 2)") == "f(1, a = 2)");
  CHECK(roundTrip("f(a = 1, 2)") == "positional-after-named");
  CHECK(roundTrip("f(a = 1, a = 2)") == "duplicate-argument");
  CHECK(roundTrip("a < b < c") == "comparison-chain");
  CHECK(roundTrip("(a < b) == c") == "(a < b) == c");
}
