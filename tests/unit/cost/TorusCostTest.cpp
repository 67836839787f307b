#include "runtime/cost/CollectiveCost.h"
#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

#include <algorithm>
#include <cmath>

using namespace planc;
using namespace planc::cost;
using program::InstructionKind;

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

/// A torus with links of 100 GB/s and 1us, inside slices joined at 10 GB/s.
hardware::Cluster torus(std::vector<std::int64_t> sizes) {
  hardware::Cluster c = testCluster();
  const hardware::Level link = c.levels[0], slices = c.levels[1];
  c.levels.clear();
  for (std::int64_t size : sizes) {
    c.levels.push_back(link);
    c.levels.back().of = size;
    c.levels.back().wiring = hardware::Wiring::Torus;
  }
  c.levels.push_back(slices);
  return c;
}

double seconds(const hardware::Cluster &c, InstructionKind kind,
               const program::Message &m,
               Algorithm expected = Algorithm::Torus) {
  const CollectiveCost cost = CollectiveCosts(c).cost(kind, m);
  CHECK(cost.algorithm == expected);
  return toSeconds(cost.total);
}

/// The simple version: every piece goes the shorter way round, one link after
/// the other; bytes on the busiest of the links in one direction.
double busiestOfExchange(std::int64_t members, std::int64_t apart, bool closed,
                         double bytes) {
  const std::int64_t n = members * apart; // places on the line
  std::vector<double> right(static_cast<std::size_t>(n), 0);
  std::vector<double> left(static_cast<std::size_t>(n), 0);
  const double piece = bytes / static_cast<double>(members);
  // All `apart` groups do the same.
  for (std::int64_t from = 0; from < n; ++from)
    for (std::int64_t step = 1; step < members; ++step) {
      const std::int64_t to = (from + step * apart) % n;
      std::int64_t ahead = (to - from + n) % n;
      if (!closed && to < from)
        ahead = n; // cannot
      const std::int64_t back = closed ? n - ahead : from - to;
      // Half a ring is as far either way: half of it each.
      const double forward = !closed         ? (to > from ? 1 : 0)
                             : ahead < back  ? 1
                             : ahead == back ? 0.5
                                             : 0;
      for (std::int64_t i = 0; i < ahead && forward > 0; ++i)
        right[static_cast<std::size_t>((from + i) % n)] += forward * piece;
      for (std::int64_t i = 0; i < back && forward < 1; ++i)
        left[static_cast<std::size_t>((from - 1 - i + 2 * n) % n)] +=
            (1 - forward) * piece;
    }
  return std::max(*std::max_element(right.begin(), right.end()),
                  *std::max_element(left.begin(), left.end()));
}

} // namespace

TEST_CASE("torus: a ring uses the links of both directions", "[torus]") {
  const hardware::Cluster c = torus({16, 16});
  const auto ring = message(kGiga, {16}, {1});
  CHECK(seconds(c, InstructionKind::AllGather, ring) ==
        Approx(15.0 / 16 / 200 + 8e-6));
  CHECK(seconds(c, InstructionKind::ReduceScatter, ring) ==
        Approx(15.0 / 16 / 200 + 8e-6));
  CHECK(seconds(c, InstructionKind::AllReduce, ring) ==
        Approx(2 * 15.0 / 16 / 200 + 16e-6));
  CHECK(seconds(c, InstructionKind::Broadcast, ring) ==
        Approx(1.0 / 200 + 8e-6));
}

TEST_CASE("torus: a line that is not closed takes twice as long", "[torus]") {
  const hardware::Cluster c = torus({16, 16});
  // 8 next to each other of 16: 7/8 GB past the end of the line.
  CHECK(seconds(c, InstructionKind::AllGather, message(kGiga, {8}, {1})) ==
        Approx(7.0 / 8 / 100 + 7e-6));
  // Two are joined by one link, even if they are all there is.
  CHECK(seconds(torus({2, 2}), InstructionKind::AllGather,
                message(kGiga, {2}, {1})) == Approx(0.5 / 100 + 1e-6));
}

TEST_CASE("torus: dimensions work at the same time", "[torus]") {
  for (std::int64_t p : {3, 4, 16}) {
    const double n2 = static_cast<double>(p * p),
                 n3 = n2 * static_cast<double>(p);
    const double hops = std::floor(static_cast<double>(p) / 2) * 1e-6;
    CHECK(seconds(torus({p, p}), InstructionKind::AllGather,
                  message(kGiga, {p * p}, {1})) ==
          Approx((n2 - 1) / n2 / (2 * 200) + 2 * hops));
    CHECK(seconds(torus({p, p, p}), InstructionKind::AllReduce,
                  message(kGiga, {p * p * p}, {1})) ==
          Approx(2 * (n3 - 1) / n3 / (3 * 200) + 2 * 3 * hops));
  }
}

TEST_CASE("torus: dimensions of different sizes wait for each other",
          "[torus]") {
  // Halves of 0.5 GB: one scatters over 4 while the other does over 8, then
  // they change places with a fourth and an eighth of that.
  const double first = 0.5 * 7 / 8 / 200, second = 0.5 / 4 * 7 / 8 / 200;
  CHECK(seconds(torus({4, 8}), InstructionKind::ReduceScatter,
                message(kGiga, {32}, {1})) == Approx(first + second + 8e-6));
}

TEST_CASE("torus: groups that lie between each other share the links",
          "[torus]") {
  const hardware::Cluster c = torus({16, 16});
  // Every fourth of a ring: 4 groups, each link carries all of them.
  CHECK(seconds(c, InstructionKind::AllGather, message(kGiga, {4}, {4})) ==
        Approx(4 * 0.75 / 200 + 8e-6));
  // Along y: nobody between.
  CHECK(seconds(c, InstructionKind::AllGather, message(kGiga, {16}, {16})) ==
        Approx(15.0 / 16 / 200 + 8e-6));
  // A transfer to the fourth next, of all to theirs.
  CHECK(seconds(c, InstructionKind::Send, message(kGiga, {2}, {4}),
                Algorithm::PointToPoint) == Approx(4 * 1.0 / 100 + 4e-6));
}

TEST_CASE("torus: all-to-all goes a quarter of the ring", "[torus]") {
  for (std::int64_t p : {3, 4, 5, 8, 16}) {
    for (std::int64_t apart : {1, 2}) {
      const bool isRing = p * apart > 2;
      const auto m = message(kGiga, {p}, {apart});
      const double bytes = busiestOfExchange(p, apart, isRing, 1);
      const double hops =
          std::floor(static_cast<double>(p) / 2) * static_cast<double>(apart);
      CHECK(seconds(torus({p * apart, 2}), InstructionKind::AllToAll, m,
                    Algorithm::Direct) == Approx(bytes / 100 + hops * 1e-6));
    }
    // Half of a line: what crosses the middle.
    CHECK(seconds(torus({4 * p}), InstructionKind::AllToAll,
                  message(kGiga, {p}, {1}), Algorithm::Direct) ==
          Approx(busiestOfExchange(p, 1, false, 1) / 100 +
                 static_cast<double>(p - 1) * 1e-6));
  }
  // A quarter of what an all-gather of everybody's bytes takes.
  const hardware::Cluster c = torus({16});
  const auto exchange =
      toSeconds(CollectiveCosts(c)
                    .cost(InstructionKind::AllToAll, message(kGiga, {16}, {1}))
                    .total);
  CHECK(exchange - 8e-6 == Approx(16.0 / 200 / 4));
}

TEST_CASE("torus: slices add a step over their own network", "[torus]") {
  const hardware::Cluster c = torus({4, 4});
  // Scattered inside, a sixteenth all-reduced outside, gathered inside.
  const double inside = 2 * 15.0 / 16 / (2 * 200) + 2 * 2 * 2e-6;
  const double outside = 2 * 3.0 / 4 / 16 / 10 + 2 * 3 * 10e-6;
  const auto m = message(kGiga, {64}, {1});
  CHECK(seconds(c, InstructionKind::AllReduce, m, Algorithm::Hierarchical) ==
        Approx(inside + outside));
  // One member a slice leaves the torus alone.
  const CollectiveCost alone = CollectiveCosts(c).cost(
      InstructionKind::AllReduce, message(kGiga, {4}, {16}));
  CHECK_FALSE(alone.uses(0));
  CHECK_FALSE(alone.uses(1));
  CHECK(alone.uses(2));
}

TEST_CASE("torus: what stays of an exchange in the slice goes over its links",
          "[torus]") {
  const hardware::Cluster c = torus({4, 4});
  // Of 64 members 16 are inside: a quarter of the bytes, half a link's worth of
  // it along each dimension; three quarters leave.
  const CollectiveCost cost = CollectiveCosts(c).cost(
      InstructionKind::AllToAll, message(kGiga, {64}, {1}));
  CHECK(cost.levels[0].bytes.value == kGiga / 4 / 2);
  CHECK(cost.levels[1].bytes.value == kGiga / 4 / 2);
  CHECK(cost.levels[2].bytes.value == kGiga / 4 * 3);
  CHECK(toSeconds(cost.total) == Approx(0.75 / 10 + 10e-6));
}

TEST_CASE("full mesh: n - 1 links in a group of n, one to send", "[torus]") {
  hardware::Cluster c = testCluster();
  c.levels[0].wiring = hardware::Wiring::FullMesh;
  for (std::int64_t n : {2, 4, 8}) {
    const double parts = 1 / static_cast<double>(n);
    const double hops = static_cast<double>(n - 1) * 1e-6;
    const auto m = message(kGiga, {n}, {1});
    CHECK(seconds(c, InstructionKind::AllGather, m, Algorithm::Ring) ==
          Approx(parts / 100 + hops));
    CHECK(seconds(c, InstructionKind::AllToAll, m, Algorithm::Direct) ==
          Approx(parts / 100 + 1e-6));
  }
  CHECK(seconds(c, InstructionKind::Send, message(kGiga, {2}, {1}),
                Algorithm::PointToPoint) == Approx(1.0 / 100 + 1e-6));
}
