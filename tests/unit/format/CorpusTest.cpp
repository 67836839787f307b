// Every plan of the repository: the same tree, and nothing more to do after
// once. (format() itself compares trees; here it is done by hand.)
#include "tests/unit/Catch.h"
#include "tests/unit/format/Formatted.h"

using namespace planc;

TEST_CASE("formatting a file twice is formatting it once", "[corpus]") {
  std::size_t parsed = 0;
  for (const std::filesystem::path &path : corpus()) {
    INFO(path.string());
    const std::string text = readFile(path);
    const std::string tree = treeOf(text);
    const Formatted once(text);
    CHECK(once.text.has_value() == !tree.empty());
    if (!once.text)
      continue;
    ++parsed;
    CHECK(treeOf(*once.text) == tree);
    CHECK(styled(*once.text) == *once.text);
  }
  CHECK(parsed > 150);
}
