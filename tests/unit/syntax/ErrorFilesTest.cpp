#include "tests/unit/Catch.h"

#include "compiler/diag/Kinds.h"
#include "tests/unit/syntax/Parsed.h"

#include "compiler/diag/Verifier.h"

#include <set>

using namespace planc;

TEST_CASE("each file of mistakes gives what it says, and no AST") {
  for (const auto &path : plansIn(PLANC_ERRORS)) {
    CAPTURE(path);
    Parsed parsed(readFile(path), path.filename().string());
    CHECK(parsed.file == nullptr);
    CHECK(diag::compare(parsed.id, parsed.sources,
                        parsed.diagnostics.diagnostics) ==
          std::vector<std::string>());
  }
}

TEST_CASE("every kind of the syntax has a file that shows it") {
  std::set<diag::Kind> shown;
  for (const auto &path : plansIn(PLANC_ERRORS))
    for (const diag::Diagnostic &d :
         Parsed(readFile(path)).diagnostics.diagnostics)
      shown.insert(d.kind);
  for (std::size_t i = 0; i < diag::kindCount(); ++i) {
    const diag::KindInfo &info = diag::infoOf(static_cast<diag::Kind>(i));
    // A file large enough for too-many-tokens is made in HostileTest.
    if (info.stage != diag::Stage::Syntax ||
        info.kind == diag::Kind::TooManyTokens ||
        info.name.starts_with("program-")) // tests/errors/program
      continue;
    CAPTURE(info.name);
    CHECK(shown.contains(info.kind));
  }
}

TEST_CASE("nothing of ANTLR's own words is shown") {
  std::string all;
  for (const auto &path : plansIn(PLANC_ERRORS))
    for (const diag::Diagnostic &d :
         Parsed(readFile(path)).diagnostics.diagnostics) {
      all += d.message + "\n";
      for (const std::string &help : d.helps)
        all += help + "\n";
    }
  REQUIRE(all.size() > 1000);
  for (const char *raw : {"mismatched input", "no viable alternative",
                          "extraneous input", "token recognition", "expecting",
                          "<EOF>", "WORD", "NEWLINE", "something else"})
    CHECK(all.find(raw) == std::string::npos);
}

TEST_CASE("fixes can be made") {
  Parsed parsed("let a = [1 2]\nlet b = .5\nlet c = f(x = 1 = 2)\n");
  for (const diag::Diagnostic &d : parsed.diagnostics.diagnostics)
    for (const diag::Fix &fix : d.fixes)
      CHECK(fix.span.end <= parsed.sources[parsed.id].text().size());
  REQUIRE(parsed.kinds().size() == 3);
  CHECK(parsed.kinds()[0] == "bare-point"); // the words are looked at first
  CHECK(parsed.diagnostics.diagnostics[0].fixes[0].replacement == "0.5");
  CHECK(parsed.kinds()[1] == "missing-comma");
  CHECK(parsed.diagnostics.diagnostics[1].fixes[0].replacement == ",");
}
