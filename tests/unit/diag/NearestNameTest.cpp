#include "tests/unit/Catch.h"

#include "compiler/diag/Emitter.h"

using namespace planc::diag;

TEST_CASE("edit distance counts insertions, deletions, changes and swaps") {
  CHECK(editDistance("", "") == 0);
  CHECK(editDistance("", "abc") == 3);
  CHECK(editDistance("abc", "") == 3);
  CHECK(editDistance("batch", "batch") == 0);
  CHECK(editDistance("bacth", "batch") == 1);
  CHECK(editDistance("btch", "batch") == 1);
  CHECK(editDistance("bbatch", "batch") == 1);
  CHECK(editDistance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is near, and the first of equals") {
  std::vector<std::string_view> names{"heads", "hidden", "kv_heads", "head",
                                      "ffn"};
  CHECK(nearestName("haeds", names) == "heads");
  CHECK(nearestName("hiden", names) == "hidden");
  CHECK(nearestName("headx", names) == "heads");
  CHECK(!nearestName("experts", names));
  CHECK(!nearestName("x", names));
  CHECK(!nearestName("", names));
  CHECK(!nearestName(std::string(1000, 'a'), names));
  CHECK(nearestName("ab", {"ac", "ad"}) == "ac");
  CHECK(!nearestName("heads", {"heads"}));
}
