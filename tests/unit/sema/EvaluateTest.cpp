#include "tests/unit/Catch.h"
#include "tests/unit/sema/Elaborated.h"

#include "compiler/sema/Elaboration.h"

using namespace planc;

namespace {

/// The value of an expression as it would be written; the names of what was
/// reported where there is none.
std::string evaluate(const std::string &expr, const std::string &before = "") {
  Elaborated text(before + "let found = " + expr + "\nplan p = p\n");
  if (!text.program)
    return text.kinds().empty() ? "?" : text.kinds().front();
  diag::CaptureConsumer captured;
  diag::Emitter emitter(captured);
  sema::Elaboration elaboration(*text.program, text.origins, emitter);
  sema::Value value =
      elaboration.valueOf(text.program->main().find("found"), {});
  if (!value.isPoison())
    return sema::describe(value);
  return captured.diagnostics.empty()
             ? "quiet"
             : std::string(diag::infoOf(captured.diagnostics[0].kind).name);
}

} // namespace

TEST_CASE("integers are exact and divide by name", "[evaluate]") {
  CHECK(evaluate("2 + 3 * 4") == "14");
  CHECK(evaluate("7 / 2") == "3.5");
  CHECK(evaluate("8 / 2") == "4.0");
  CHECK(evaluate("7 // 2") == "3");
  CHECK(evaluate("-7 // 2") == "-4");
  CHECK(evaluate("-7 mod 2") == "1");
  CHECK(evaluate("7 mod -2") == "-1");
  CHECK(evaluate("2 ** 10") == "1024");
  CHECK(evaluate("2 ** -1") == "0.5");
  CHECK(evaluate("9007199254740993 + 0") == "9007199254740993");
  CHECK(evaluate("4611686018427387904 * 2") == "number-out-of-range");
  CHECK(evaluate("2 ** 63") == "number-out-of-range");
  CHECK(evaluate("-9223372036854775807 - 1") == "number-out-of-range");
  CHECK(evaluate("1 // 0") == "division-by-zero");
  CHECK(evaluate("1 mod 0") == "division-by-zero");
  CHECK(evaluate("0 ** -1") == "division-by-zero");
  CHECK(evaluate("1 / 0.0") == "division-by-zero");
  CHECK(evaluate("1e308 * 10") == "number-out-of-range");
}

TEST_CASE("quantities keep their dimensions", "[evaluate]") {
  CHECK(evaluate("80GB / 3.35TB/s") == "23.8806ms");
  CHECK(evaluate("80GiB / 40GiB") == "2.0");
  CHECK(evaluate("2 * 25MiB") == "50MiB");
  CHECK(evaluate("400Gb/s == 50GB/s") == "true");
  CHECK(evaluate("1.5us < 2us") == "true");
  CHECK(evaluate("38% + 1%") == "0.39");
  CHECK(evaluate("max(1GB, 2MB) == 1GB") == "true");
  CHECK(evaluate("80GB + 2s") == "unit-mismatch");
  CHECK(evaluate("80GB + 2") == "unit-mismatch");
  CHECK(evaluate("80GB < 2s") == "unit-mismatch");
  CHECK(evaluate("80gb") == "unknown-unit");
  CHECK(evaluate("5stages") == "unknown-unit");
}

TEST_CASE("lists, words and logic", "[evaluate]") {
  CHECK(evaluate("[5] + 3 * [6] + [5]") == "[5, 6, 6, 6, 5]");
  CHECK(evaluate("sum([5] + 10 * [6] + [5])") == "70");
  CHECK(evaluate("divisors(12)") == "[1, 2, 3, 4, 6, 12]");
  CHECK(evaluate("log2(1024)") == "10");
  CHECK(evaluate("ceil(7 / 2)") == "4");
  CHECK(evaluate("floor(-0.5)") == "-1");
  CHECK(evaluate("min([3, 1, 2])") == "1");
  CHECK(evaluate("if 3 mod 6 == 5 then none else 1024") == "1024");
  CHECK(evaluate("if true then none else 1024") == "none");
  CHECK(evaluate("1 < 2 and not (2 < 1)") == "true");
  CHECK(evaluate("false and 1 // 0 == 1") == "false");
  CHECK(evaluate("Interleaved1F1B") == "Interleaved1F1B");
  CHECK(evaluate("1F1B") == "1F1B");
  CHECK(evaluate("none == 3") == "false");
  CHECK(evaluate("1..32") == "1..32");
  CHECK(evaluate("1 and true") == "type-mismatch");
  CHECK(evaluate("[1] + 1") == "type-mismatch");
  CHECK(evaluate("log2(0)") == "division-by-zero");
  CHECK(evaluate("divisors(0)") == "type-mismatch");
  CHECK(evaluate("2000000 * [1]") == "list-too-long");
  CHECK(evaluate("hiddn") == "unknown-name");
}

TEST_CASE("constants may stand in any order", "[evaluate]") {
  CHECK(evaluate("a + 1", "let a = b * 2\nlet b = 4\n") == "9");
  CHECK(evaluate("a", "let a = a\n") == "cyclic-definition");
  // One mistake is one message.
  CHECK(evaluate("a + a", "let a = 1 // 0\n") == "division-by-zero");
}

TEST_CASE("values that -D gives are literals", "[evaluate]") {
  auto literal = [](std::string_view text) {
    auto value = sema::parseLiteral(text);
    return value ? sema::describe(*value) : std::string("nothing");
  };
  CHECK(literal("8") == "8");
  CHECK(literal(" -3 ") == "-3");
  CHECK(literal("0.5") == "0.5");
  CHECK(literal("25MiB") == "25MiB");
  CHECK(literal("38%") == "0.38");
  CHECK(literal("true") == "true");
  CHECK(literal("1F1B") == "1F1B");
  CHECK(literal("[1, 2, 4]") == "[1, 2, 4]");
  CHECK(literal("[]") == "[]");
  CHECK(literal("\"a b\"") == "\"a b\"");
  for (std::string_view text : {"", "8 8", "1e999", "nan%", "5stages", "[1",
                                "--1", "[[1]]", "99999999999999999999x"})
    CHECK(literal(text) == "nothing");
}
