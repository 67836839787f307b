#include "tests/unit/Catch.h"

#include "compiler/diag/Diagnostic.h"

#include <algorithm>
#include <set>

using namespace planc::diag;

TEST_CASE("every kind has a name in kebab case and a page") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kindCount(); ++i) {
    const KindInfo &info = infoOf(static_cast<Kind>(i));
    CAPTURE(info.name);
    CHECK(info.kind == static_cast<Kind>(i));
    CHECK(names.insert(info.name).second);
    CHECK(std::all_of(info.name.begin(), info.name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    }));
    CHECK(info.page.size() >= 40);
    CHECK(kindByName(info.name) == info.kind);
  }
}

TEST_CASE("pages fit a terminal") {
  for (std::size_t i = 0; i < kindCount(); ++i) {
    const KindInfo &info = infoOf(static_cast<Kind>(i));
    std::size_t width = 0;
    for (char c : info.page) {
      width = c == '\n' ? 0 : width + ((c & 0xC0) != 0x80);
      if (width > 84)
        FAIL("a line of the page of " << info.name << " is too long");
    }
  }
}

TEST_CASE("explain gives the page, and nothing for an unknown name") {
  std::optional<std::string> page = explainKind("unclosed-bracket");
  REQUIRE(page);
  CHECK(page->find("error[unclosed-bracket]\n\n") == 0);
  CHECK(page->find("has no partner") != std::string::npos);
  CHECK(page->back() == '\n');
  CHECK(!explainKind("no-such-kind"));
}
