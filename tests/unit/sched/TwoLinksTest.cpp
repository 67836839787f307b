#include "tests/unit/Catch.h"
#include "tests/unit/sched/Buckets.h"

#include "runtime/sched/NextForward.h"
#include "runtime/sched/TwoLinks.h"

#include <algorithm>
#include <map>
#include <random>

using namespace planc;
using namespace planc::sched;
using planc::sched::test::bruteForce;
using planc::sched::test::linkOf;

namespace {

class Dice {
public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}
  int between(int least, int most) {
    return least + static_cast<int>(random_() %
                                    static_cast<unsigned>(most - least + 1));
  }

private:
  std::mt19937 random_;
};

std::vector<Item> randomItems(Dice &dice, int most) {
  std::vector<Item> items;
  std::int64_t ready = 0;
  for (int i = dice.between(1, most); i > 0; --i) {
    ready += dice.between(0, 6);
    items.push_back({Duration(ready), Bytes(dice.between(0, 8))});
  }
  return items;
}

} // namespace

TEST_CASE("two links: the program finds the best of all partitions") {
  Dice dice(11);
  int tight = 0, gained = 0;
  constexpr int kInstances = 4000;
  for (int instance = 0; instance < kInstances; ++instance) {
    std::vector<Item> items = randomItems(dice, 9);
    TwoLinks links{linkOf(dice.between(0, 6), dice.between(0, 3)),
                   linkOf(dice.between(0, 6), dice.between(0, 3))};
    Duration best = finishOf(items, bucketsOptimal(items, links), links);
    REQUIRE(best == bruteForce(items, links));
    Duration bound = bucketLowerBound(items, links);
    REQUIRE(bound <= best);
    tight += bound == best;
    // Both legs on one link is never sooner.
    LinkCost both{links.first.latency + links.second.latency,
                  links.first.psPerGibibyte + links.second.psPerGibibyte};
    Duration serial = finishOf(items, bucketsOptimal(items, both), both);
    REQUIRE(best <= serial);
    gained += best < serial;
  }
  CHECK(tight > kInstances / 5);
  CHECK(tight < kInstances);
  CHECK(gained > kInstances / 5);
}

TEST_CASE("two links: a second leg of nothing is one link") {
  Dice dice(12);
  for (int instance = 0; instance < 500; ++instance) {
    std::vector<Item> items = randomItems(dice, 20);
    LinkCost one = linkOf(dice.between(0, 6), dice.between(0, 3));
    TwoLinks links{one, linkOf(0, 0)};
    REQUIRE(finishOf(items, bucketsOptimal(items, links), links) ==
            finishOf(items, bucketsOptimal(items, one), one));
  }
  CHECK(bucketsOptimal({}, TwoLinks{}).empty());
  CHECK(bucketLowerBound({}, TwoLinks{}) == Duration(0));
}

namespace {

/// The least end of the next forward over all ways to give each unit of time to
/// a ready layer, or to none.
class EveryOrder {
public:
  explicit EveryOrder(const std::vector<LayerGradient> &layers)
      : layers_(layers) {}

  std::int64_t best() {
    std::vector<std::int64_t> left;
    for (const LayerGradient &layer : layers_)
      left.push_back(layer.bytes.value);
    std::vector<std::int64_t> arrived(layers_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i)
      arrived[i] = left[i] == 0 ? layers_[i].ready.value : -1;
    return branch(0, left, arrived);
  }

private:
  std::int64_t branch(std::int64_t now, std::vector<std::int64_t> left,
                      std::vector<std::int64_t> arrived) {
    if (std::all_of(left.begin(), left.end(),
                    [](std::int64_t bytes) { return bytes == 0; })) {
      std::int64_t at = 0;
      for (std::size_t i = 0; i < layers_.size(); ++i)
        at = std::max(at, arrived[i]) + layers_[i].forward.value;
      return at;
    }
    std::vector<std::int64_t> key = left;
    key.insert(key.end(), arrived.begin(), arrived.end());
    key.push_back(now);
    if (auto known = known_.find(key); known != known_.end())
      return known->second;
    std::int64_t best = 1'000'000;
    bool any = false;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (left[i] == 0 || layers_[i].ready.value > now)
        continue;
      any = true;
      std::vector<std::int64_t> next = left, there = arrived;
      if (--next[i] == 0)
        there[i] = now + 1;
      best = std::min(best, branch(now + 1, next, there));
    }
    if (!any)
      best = branch(now + 1, left, arrived);
    return known_[key] = best;
  }

  const std::vector<LayerGradient> &layers_;
  std::map<std::vector<std::int64_t>, std::int64_t> known_;
};

/// One unit at a time, by `first` among the ready layers.
template <class First>
std::int64_t unitByUnit(const std::vector<LayerGradient> &layers, First first) {
  std::vector<std::int64_t> left, arrived(layers.size());
  std::int64_t open = 0;
  for (const LayerGradient &layer : layers) {
    left.push_back(layer.bytes.value);
    open += layer.bytes.value;
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    arrived[i] = layers[i].ready.value;
  for (std::int64_t now = 0; open > 0; ++now) {
    std::size_t chosen = layers.size();
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (left[i] > 0 && layers[i].ready.value <= now &&
          (chosen == layers.size() || first(i, chosen)))
        chosen = i;
    if (chosen == layers.size())
      continue;
    --open;
    if (--left[chosen] == 0)
      arrived[chosen] = now + 1;
  }
  std::int64_t at = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    at = std::max(at, arrived[i]) + layers[i].forward.value;
  return at;
}

std::vector<LayerGradient> randomLayers(Dice &dice, int most, int bytes) {
  std::vector<LayerGradient> layers(
      static_cast<std::size_t>(dice.between(1, most)));
  std::int64_t ready = 0;
  for (std::size_t i = layers.size(); i-- > 0;) {
    ready += dice.between(0, 4);
    layers[i] = {Duration(ready), Bytes(dice.between(1, bytes)),
                 Duration(dice.between(0, 5))};
  }
  return layers;
}

} // namespace

TEST_CASE("the next forward: the closed form is the rule, and the best") {
  constexpr std::int64_t kOnePerByte = std::int64_t(1) << 30;
  Dice dice(13);
  int gained = 0;
  for (int instance = 0; instance < 3000; ++instance) {
    std::vector<LayerGradient> layers = randomLayers(dice, 8, 6);
    std::int64_t priority = nextForwardByPriority(layers, kOnePerByte).value;
    std::int64_t firstCome = nextForwardFirstCome(layers, kOnePerByte).value;
    REQUIRE(priority == unitByUnit(layers, [](std::size_t a, std::size_t b) {
              return a < b;
            }));
    REQUIRE(firstCome == unitByUnit(layers, [](std::size_t a, std::size_t b) {
              return a > b;
            }));
    std::int64_t forward = 0;
    for (const LayerGradient &layer : layers)
      forward += layer.forward.value;
    REQUIRE(priority <= firstCome);
    REQUIRE(firstCome - priority <= forward);
    gained += priority < firstCome;
  }
  CHECK(gained > 500);
  for (int instance = 0; instance < 400; ++instance) {
    std::vector<LayerGradient> layers = randomLayers(dice, 4, 3);
    REQUIRE(nextForwardByPriority(layers, kOnePerByte).value ==
            EveryOrder(layers).best());
  }
}
