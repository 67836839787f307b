#include "tests/unit/Catch.h"

#include "compiler/source/SourceSet.h"

using namespace planc::source;

TEST_CASE("a set finds files by name and gives their text") {
  SourceSet set;
  FileId a = set.add("a.plan", "let x = 1\nlet y = 2\n");
  FileId b = set.add("b.plan", "");
  CHECK(set.find("b.plan") == b);
  CHECK(!set.find("c.plan"));
  CHECK(set.text({a, 4, 5}) == "x");
  CHECK(set.text({a, 14, 15}) == "y");
  CHECK(set.text({b, 0, 0}).empty());
  CHECK(set.text({a, 100, 200}).empty());
  LineColumn at = set.lineColumn({a, 14, 15});
  CHECK(at.line == 2);
  CHECK(at.column == 5);
}

TEST_CASE("lines end at \\n, \\r\\n, \\r or the end") {
  SourceFile file("a", "one\r\ntwo\n\nfour\rfive\r");
  CHECK(file.lineCount() == 6);
  CHECK(file.line(1) == "one");
  CHECK(file.line(2) == "two");
  CHECK(file.line(3).empty());
  CHECK(file.line(4) == "four");
  CHECK(file.line(5) == "five");
  CHECK(file.line(6).empty());
}

TEST_CASE("bytes of a file stay where they are") {
  SourceSet set;
  FileId first = set.add("a", "text");
  const char *before = set[first].text().data();
  for (int i = 0; i < 100; ++i)
    set.add("b", "more");
  CHECK(set[first].text().data() == before);
}

TEST_CASE("UTF-8 is told from what is not") {
  CHECK(!firstInvalidUtf8(""));
  CHECK(!firstInvalidUtf8("plain"));
  CHECK(!firstInvalidUtf8("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  CHECK(!firstInvalidUtf8("\xF4\x8F\xBF\xBF")); // U+10FFFF
  CHECK(firstInvalidUtf8("ab\xFF") == 2);
  CHECK(firstInvalidUtf8("\xC3") == 0);             // cut off
  CHECK(firstInvalidUtf8("a\xC3\x28") == 1);        // no continuation
  CHECK(firstInvalidUtf8("\xC0\x80") == 0);         // overlong
  CHECK(firstInvalidUtf8("\xE0\x80\x80") == 0);     // overlong
  CHECK(firstInvalidUtf8("\xED\xA0\x80") == 0);     // surrogate
  CHECK(firstInvalidUtf8("\xF4\x90\x80\x80") == 0); // past U+10FFFF
  CHECK(firstInvalidUtf8("\x80") == 0);             // stray continuation
}
