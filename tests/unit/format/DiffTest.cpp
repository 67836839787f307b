#include "compiler/format/UnifiedDiff.h"

#include "tests/unit/Catch.h"

#include <fmt/format.h>

#include <random>
#include <vector>

using planc::format::unifiedDiff;

TEST_CASE("equal texts have no difference", "[diff]") {
  CHECK(unifiedDiff("a", "", "") == "");
  CHECK(unifiedDiff("a", "x\ny\n", "x\ny\n") == "");
}

TEST_CASE("a changed line stands between three others", "[diff]") {
  CHECK(unifiedDiff("p", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                    "1\n2\n3\n4\nfive\n6\n7\n8\n9\n") ==
        "--- p\n+++ p\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("changes far apart are two hunks, near ones one", "[diff]") {
  std::string before, far, near;
  for (int i = 0; i < 20; ++i) {
    const std::string line = std::to_string(i) + "\n";
    before += line;
    far += i == 2 || i == 17 ? "x\n" : line;
    near += i == 5 || i == 12 ? "x\n" : line;
  }
  const auto hunks = [](const std::string &text) {
    std::size_t count = 0;
    for (std::size_t at = text.find("\n@@"); at != std::string::npos;
         at = text.find("\n@@", at + 1))
      ++count;
    return count;
  };
  CHECK(hunks(unifiedDiff("p", before, far)) == 2);
  CHECK(hunks(unifiedDiff("p", before, near)) == 1);
}

TEST_CASE("a last line without its end is said to be", "[diff]") {
  CHECK(unifiedDiff("p", "a", "a\n") ==
        "--- p\n+++ p\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  CHECK(unifiedDiff("a p", "", "a\n") ==
        "--- a p\t\n+++ a p\t\n@@ -0,0 +1 @@\n+a\n");
  CHECK(unifiedDiff("p", "", "a\n") == "--- p\n+++ p\n@@ -0,0 +1 @@\n+a\n");
}

namespace {

/// What `patch` makes of it; lines that do not fit are left in as `?`.
std::string patched(const std::string &before, const std::string &diff) {
  std::vector<std::string> old;
  for (std::size_t at = 0; at < before.size();) {
    const std::size_t end = before.find('\n', at) + 1;
    old.push_back(before.substr(at, end - at));
    at = end;
  }
  std::string out;
  std::size_t next = 0, line = diff.find("@@");
  while (line < diff.size()) {
    const std::size_t end = diff.find('\n', line) + 1;
    const std::string text = diff.substr(line, end - line);
    line = end;
    if (text[0] == '@') {
      const std::size_t comma = text.find_first_of(", ", 4);
      std::size_t first = std::stoul(text.substr(4, comma - 4));
      if (text.compare(comma, 2, ",0") == 0)
        ++first;
      while (next + 1 < first)
        out += old[next++];
      continue;
    }
    const std::string rest = text.substr(1);
    if (text[0] != '+' && old[next++] != rest)
      out += "?";
    if (text[0] != '-')
      out += rest;
  }
  while (next < old.size())
    out += old[next++];
  return out;
}

} // namespace

TEST_CASE("a diff turns one text into the other", "[diff]") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto text = [&] {
      std::string out;
      for (auto lines = random() % 30; lines > 0; --lines)
        out += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      return out;
    };
    const std::string before = text(), after = text();
    INFO(before << "=>\n" << after);
    REQUIRE(patched(before, unifiedDiff("p", before, after)) == after);
  }
}

TEST_CASE("texts with nothing in common take no longer", "[diff]") {
  std::string before, after;
  for (int i = 0; i < 50'000; ++i) {
    before += fmt::format("a{}\n", i);
    after += fmt::format("b{}\n", i);
  }
  CHECK(patched(before, unifiedDiff("p", before, after)) == after);
}
