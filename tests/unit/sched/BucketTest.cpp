#include "tests/unit/Catch.h"
#include "tests/unit/sched/Buckets.h"

#include "runtime/sched/Algorithms.h"

#include <algorithm>
#include <random>

using namespace planc;
using namespace planc::sched;
using planc::sched::test::bruteForce;
using planc::sched::test::linkOf;

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

std::vector<Item> itemsOf(std::vector<std::int64_t> sizes) {
  std::vector<Item> items;
  for (std::int64_t size : sizes)
    items.push_back({Duration(0), Bytes(size)});
  return items;
}

std::vector<Item> randomItems(std::mt19937 &random, std::size_t most) {
  auto between = [&](int least, int up) {
    return std::uniform_int_distribution<int>(least, up)(random);
  };
  std::vector<Item> items(
      static_cast<std::size_t>(between(1, static_cast<int>(most))));
  std::int64_t ready = 0;
  for (Item &item : items) {
    ready += between(0, 6);
    item = {Duration(ready), Bytes(between(0, 8))};
  }
  return items;
}

} // namespace

TEST_CASE("fixed buckets close when they reach the cap") {
  std::vector<Item> items = itemsOf({4, 4, 4, 4, 30, 1});
  CHECK(bucketsFixed(items, Bytes(8), Bytes(8)) == Buckets{2, 4, 5, 6});
  // DDP: a small first bucket.
  CHECK(bucketsFixed(items, Bytes(8), Bytes(1)) == Buckets{1, 3, 5, 6});
  CHECK(bucketsFixed({}, Bytes(8), Bytes(1)).empty());
}

TEST_CASE("Megatron's buckets count parameters") {
  std::vector<Item> items(9, {Duration(0), Bytes(10'000'000 * 4)});
  CHECK(bucketsMegatron(items, 8, 4) == Buckets{4, 8, 9});
  CHECK(bucketsMegatron(items, 60, 4) == Buckets{6, 9});
}

TEST_CASE("a bucket for each layer, and one for all") {
  std::vector<std::int32_t> layers = {2, 2, 1, 1, 1, 0};
  CHECK(bucketsByGroup(layers) == Buckets{2, 5, 6});
  CHECK(bucketsOne(itemsOf({1, 2, 3})) == Buckets{3});
  CHECK(bucketsOne({}).empty());
}

TEST_CASE("the dynamic program finds the best of all partitions") {
  std::mt19937 random(1);
  std::size_t tight = 0;
  constexpr int kInstances = 3000;
  for (int instance = 0; instance < kInstances; ++instance) {
    std::vector<Item> items = randomItems(random, 10);
    LinkCost cost = linkOf(instance % 7, instance % 4);
    Duration best = finishOf(items, bucketsOptimal(items, cost), cost);
    REQUIRE(best == bruteForce(items, cost));
    Duration bound = bucketLowerBound(items, cost);
    REQUIRE(bound <= best);
    tight += bound == best;
    if (cost.latency == Duration(0))
      REQUIRE(bound == best);
    for (std::int64_t cap : {1, 5, 20})
      REQUIRE(finishOf(items, bucketsFixed(items, Bytes(cap), Bytes(1)),
                       cost) >= best);
    REQUIRE(finishOf(items, bucketsOne(items), cost) >= best);
  }
  // The bound is often reached, and often not.
  CHECK(tight > kInstances / 5);
  CHECK(tight < kInstances);
}

TEST_CASE("published counterexamples to merging rules") {
  // MG-WFBP's rule gives 8, sending all that is ready 9.
  std::vector<Item> merge = {{Duration(0), Bytes(1)},
                             {Duration(1), Bytes(1)},
                             {Duration(3), Bytes(1)}};
  CHECK(bucketsOptimal(merge, linkOf(2, 1)) == Buckets{1, 3});
  CHECK(finishOf(merge, {1, 3}, linkOf(2, 1)) == Duration(7));
  CHECK(finishOf(merge, {2, 3}, linkOf(2, 1)) == Duration(8));
  std::vector<Item> greedy = {{Duration(0), Bytes(1)},
                              {Duration(0), Bytes(1)},
                              {Duration(1), Bytes(1)}};
  CHECK(finishOf(greedy, bucketsOptimal(greedy, linkOf(3, 1)), linkOf(3, 1)) ==
        Duration(7));
  CHECK(finishOf(greedy, {2, 3}, linkOf(3, 1)) == Duration(9));
}

TEST_CASE("where the network binds, buckets grow") {
  std::vector<Item> items;
  for (int i = 1; i <= 12; ++i)
    items.push_back({Duration(i * 10), Bytes(1)});
  Buckets ends = bucketsOptimal(items, linkOf(6, 15));
  std::size_t last = 0, before = 0;
  for (std::size_t end : ends) {
    CHECK(end - last >= before);
    before = end - last;
    last = end;
  }
  CHECK(ends.size() < items.size());
}

TEST_CASE("bytes past the range stay in it") {
  std::vector<Item> items(3, {Duration(0), Bytes(std::int64_t(1) << 62)});
  LinkCost cost = linkOf(1, 1000);
  CHECK(bucketsOptimal(items, cost).back() == 3);
  CHECK(finishOf(items, {1, 2, 3}, cost) > Duration(0));
  CHECK(bucketsFixed(items, Bytes(25 * kMebibyte), Bytes(kMebibyte)) ==
        Buckets{1, 2, 3});
}
