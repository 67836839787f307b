#include "tests/unit/Catch.h"

#include "compiler/diag/Consumers.h"
#include "compiler/diag/Kinds.h"

using namespace planc;
using diag::Kind;

TEST_CASE("a diagnostic is one JSON object") {
  source::SourceSet sources;
  source::FileId file = sources.add("a.plan", "let x = 1\nlet y = z\n");
  std::vector<std::string> lines;
  diag::JsonConsumer json(
      sources,
      [](void *to, std::string object) {
        static_cast<std::vector<std::string> *>(to)->push_back(object);
      },
      &lines);
  diag::Emitter emitter(json);
  emitter.report({file, 18, 19}, Kind::ExpectedName, "a \"{}\" \xff", "q")
      .note({file, 0, 3}, "because")
      .note("and so")
      .help("do");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        R"({"code":"expected-name","column":9,"file":"a.plan","help":["do"],)"
        R"("line":2,"message":"a \"q\" )"
        "\xef\xbf\xbd"
        R"(","notes":[{"column":1,"file":"a.plan","line":1,"text":"because"},)"
        R"({"text":"and so"}],"severity":"error"})");
}
