#include "tests/unit/Catch.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"

using namespace planc;
using diag::Kind;

TEST_CASE("the first twenty errors are handed on, the rest counted") {
  diag::CaptureConsumer capture;
  diag::Emitter emitter(capture);
  source::FileId file(0);
  for (std::uint32_t i = 0; i < 30; ++i)
    emitter.report({file, i, i + 1}, Kind::ExpectedName, "error {}", i);
  emitter.finish();
  emitter.finish();
  CHECK(capture.diagnostics.size() == 20);
  CHECK(capture.diagnostics.back().message == "error 19");
  CHECK(capture.suppressed == 10);
  CHECK(emitter.errorCount() == 30);
}

TEST_CASE("the same kind at the same place is told once") {
  diag::CaptureConsumer capture;
  diag::Emitter emitter(capture);
  source::FileId file(0);
  emitter.report({file, 1, 2}, Kind::ExpectedName, "first");
  emitter.report({file, 1, 2}, Kind::ExpectedName, "second");
  emitter.report({file, 1, 2}, Kind::ExpectedToken, "third");
  emitter.report({file, 1, 3}, Kind::ExpectedName, "fourth");
  REQUIRE(capture.diagnostics.size() == 3);
  CHECK(capture.diagnostics[1].message == "third");
}

TEST_CASE("errors say what kind of failure they are") {
  diag::CaptureConsumer capture;
  diag::Emitter emitter(capture);
  CHECK(!emitter.hasErrors());
  emitter.report({}, Kind::UnknownLanguage, "unsupported");
  CHECK(emitter.hasErrors());
  CHECK(emitter.failure() == FailureKind::Unsupported);
  emitter.report({}, Kind::ExpectedName, "illegal");
  CHECK(emitter.failure() == FailureKind::Illegal);
}

TEST_CASE("a context is told with what happens inside it only") {
  diag::CaptureConsumer capture;
  diag::Emitter emitter(capture);
  {
    diag::ContextScope scope(emitter, {}, "in model `gpt`");
    emitter.report({}, Kind::ExpectedName, "inside");
  }
  emitter.report({}, Kind::ExpectedName, "outside");
  REQUIRE(capture.diagnostics.size() == 2);
  REQUIRE(capture.diagnostics[0].contexts.size() == 1);
  CHECK(capture.diagnostics[0].contexts[0].text == "in model `gpt`");
  CHECK(capture.diagnostics[1].contexts.empty());
}

TEST_CASE("a suggestion is a help and a fix, or nothing") {
  diag::CaptureConsumer capture;
  diag::Emitter emitter(capture);
  source::SourceSpan span{source::FileId(0), 3, 8};
  emitter.report(span, Kind::UnknownClause, "a").suggest(span, "batch");
  emitter.report({}, Kind::UnknownClause, "b").suggest(span, std::nullopt);
  CHECK(capture.diagnostics[0].helps ==
        std::vector<std::string>{"did you mean `batch`?"});
  REQUIRE(capture.diagnostics[0].fixes.size() == 1);
  CHECK(capture.diagnostics[0].fixes[0].replacement == "batch");
  CHECK(capture.diagnostics[1].helps.empty());
  CHECK(capture.diagnostics[1].fixes.empty());
}
