#include "tests/unit/Catch.h"

#include "compiler/diag/Kinds.h"
#include "compiler/diag/Verifier.h"

using namespace planc;
using diag::Kind;

namespace {

/// The differences between a file's comments and one error in it.
std::vector<std::string> differences(const std::string &text,
                                     std::uint32_t errorAt) {
  source::SourceSet sources;
  source::FileId file = sources.add("a.plan", text);
  diag::CaptureConsumer capture;
  diag::Emitter emitter(capture);
  emitter.report({file, errorAt, errorAt + 1}, Kind::ExpectedName,
                 "expected a name, found `3`");
  return diag::compare(file, sources, capture.diagnostics);
}

} // namespace

TEST_CASE("an expectation is met on its line, by its kind and text") {
  CHECK(differences("x # expected-error {{a name}}\n", 0).empty());
  CHECK(differences("x # expected-error[expected-name] {{found `3`}}\n", 0)
            .empty());
  CHECK(differences("# expected-error@+1 {{a name}}\nx\n", 31).empty());
  CHECK(differences("x\n# expected-error@-1 {{a name}}\n", 0).empty());
  CHECK(differences("x\n\n# expected-error@* {{a name}}\n", 0).empty());
}

TEST_CASE("what is not expected, and what is not found, is a difference") {
  CHECK(differences("x\n", 0).size() == 1);
  CHECK(differences("x # expected-error {{a name}} expected-error {{two}}\n", 0)
            .size() == 1);
  // Another line, kind, text or severity: missed and unexpected.
  CHECK(differences("x\n# expected-error {{a name}}\n", 0).size() == 2);
  CHECK(differences("x # expected-error[expected-token] {{a name}}\n", 0)
            .size() == 2);
  CHECK(differences("x # expected-error {{another}}\n", 0).size() == 2);
  CHECK(differences("x # expected-warning {{a name}}\n", 0).size() == 2);
}

TEST_CASE("a comment that cannot be read is a difference") {
  for (const char *text :
       {"x # expected-error {a name}\n", "x # expected-error {{}}\n",
        "x # expected-error[no-such-kind] {{a name}}\n",
        "x # expected-eror {{a name}}\n", "x # expected-error@-9 {{a name}}\n",
        "x # expected-error@+ {{a name}}\n", "x # expected-error {{a name\n"})
    CHECK(differences(text, 0).size() == 2);
}
