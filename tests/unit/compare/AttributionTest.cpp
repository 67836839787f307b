// Shares of a change against the plain definition, all orders one by one.
#include "tests/unit/Catch.h"

#include "compiler/compare/Attribution.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

using namespace planc;
using namespace planc::compare;

namespace {

constexpr std::size_t kCauses = 5;

/// A table of parts for every set of units; some sets may be missing.
struct Known {
  std::size_t units = 0;
  std::map<Units, std::optional<Parts>> parts;

  Game game() const {
    return {units, *parts.at(0), *parts.at((Units(1) << units) - 1),
            [this](const std::vector<Units> &sets) {
              std::vector<std::optional<Parts>> out;
              for (Units set : sets)
                out.push_back(parts.at(set));
              return out;
            }};
  }
};

Known randomGame(std::mt19937 &random, std::size_t units, std::size_t missing) {
  Known known;
  known.units = units;
  for (Units set = 0; set < Units(1) << units; ++set) {
    Parts parts;
    for (std::size_t c = 0; c < kCauses; ++c)
      parts.push_back(static_cast<std::int64_t>(random() % 2001) - 1000);
    const bool isEnd = set == 0 || set + 1 == Units(1) << units;
    known.parts[set] = !isEnd && random() % 100 < missing
                           ? std::nullopt
                           : std::optional(parts);
  }
  return known;
}

void requireSums(const Known &known, const Attribution &found) {
  const Game game = known.game();
  std::vector<std::size_t> seen;
  for (const Group &group : found.groups)
    seen.insert(seen.end(), group.units.begin(), group.units.end());
  std::sort(seen.begin(), seen.end());
  std::vector<std::size_t> all(known.units);
  std::iota(all.begin(), all.end(), std::size_t(0));
  REQUIRE(seen == all);
  for (std::size_t c = 0; c < kCauses; ++c) {
    std::int64_t sum = 0;
    for (const Group &group : found.groups)
      sum += group.parts[c];
    REQUIRE(sum == game.after[c] - game.before[c]);
  }
}

} // namespace

TEST_CASE("shares are the mean over all orders, to the picosecond") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + random() % kAllOrders;
    const Known known = randomGame(random, n, 0);
    const Attribution found = attribute(known.game());
    requireSums(known, found);
    REQUIRE(found.isEveryOrder);
    REQUIRE(found.groups.size() == n);
    std::vector<std::vector<std::int64_t>> sums(
        n, std::vector<std::int64_t>(kCauses));
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::int64_t orders = 0;
    do {
      ++orders;
      Units applied = 0;
      for (std::size_t unit : order) {
        const Parts &from = *known.parts.at(applied);
        applied |= Units(1) << unit;
        for (std::size_t c = 0; c < kCauses; ++c)
          sums[unit][c] += (*known.parts.at(applied))[c] - from[c];
      }
    } while (std::next_permutation(order.begin(), order.end()));
    for (std::size_t unit = 0; unit < n; ++unit)
      for (std::size_t c = 0; c < kCauses; ++c)
        REQUIRE(std::abs(found.groups[unit].parts[c] * orders - sums[unit][c]) <
                orders);
  }
}

TEST_CASE("more groups are applied in one order and in its reverse") {
  std::mt19937 random(8);
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = kAllOrders + 1 + random() % 5;
    const Known known = randomGame(random, n, 0);
    const Attribution found = attribute(known.game());
    requireSums(known, found);
    REQUIRE(!found.isEveryOrder);
    for (std::size_t unit = 0; unit < n; ++unit) {
      const Units whole = (Units(1) << n) - 1, first = (Units(1) << unit) - 1,
                  rest = whole & ~(first | Units(1) << unit);
      for (std::size_t c = 0; c < kCauses; ++c) {
        const auto at = [&](Units set) { return (*known.parts.at(set))[c]; };
        const std::int64_t twice = at(first | Units(1) << unit) - at(first) +
                                   at(rest | Units(1) << unit) - at(rest);
        REQUIRE(std::abs(found.groups[unit].parts[c] * 2 - twice) < 2);
      }
    }
  }
}

TEST_CASE("what cannot be applied apart is one group") {
  std::mt19937 random(9);
  for (int round = 0; round < 300; ++round) {
    const Known known =
        randomGame(random, 1 + random() % 8, 10 + random() % 80);
    const Attribution found = attribute(known.game());
    requireSums(known, found);
    const Attribution again = attribute(known.game());
    REQUIRE(found.groups.size() == again.groups.size());
    for (std::size_t g = 0; g < found.groups.size(); ++g)
      REQUIRE(found.groups[g].units == again.groups[g].units);
  }
  // The first that makes it possible.
  Known known = randomGame(random, 3, 0);
  known.parts[0b001] = known.parts[0b011] = std::nullopt;
  known.parts[0b100] = known.parts[0b110] = std::nullopt;
  const Attribution found = attribute(known.game());
  REQUIRE(found.groups.size() == 2);
  CHECK(found.groups[0].units == std::vector<std::size_t>{0, 2});
  CHECK(found.groups[1].units == std::vector<std::size_t>{1});
}

TEST_CASE("whole shares of a whole sum") {
  const std::vector<Int128> parts = {1, 1, 1, -6, 9};
  const auto out = shareOut(parts, 3);
  CHECK(std::accumulate(out.begin(), out.end(), std::int64_t(0)) == 2);
  CHECK(out == std::vector<std::int64_t>{1, 0, 0, -2, 3});
}
