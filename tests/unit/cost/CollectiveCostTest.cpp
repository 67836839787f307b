#include "runtime/cost/CollectiveCost.h"
#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

#include <cmath>

using namespace planc;
using namespace planc::cost;
using program::InstructionKind;

namespace {

double seconds(const CollectiveCost &cost) { return toSeconds(cost.total); }

constexpr std::int64_t kGiga = 1'000'000'000;
constexpr InstructionKind kCollectives[] = {
    InstructionKind::AllReduce, InstructionKind::AllGather,
    InstructionKind::ReduceScatter, InstructionKind::AllToAll,
    InstructionKind::Broadcast};

} // namespace

TEST_CASE("ring: 2(n - 1)/n of the bytes and 2(n - 1) hops") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  for (std::int64_t n : {2, 4, 8}) {
    const auto m = message(kGiga, {n}, {1});
    const double parts = static_cast<double>(n - 1) / static_cast<double>(n);
    const double hops = static_cast<double>(n - 1) * 1e-6;
    CHECK(seconds(costs.costWith(Algorithm::Ring, InstructionKind::AllReduce,
                                 m)) == Approx(2 * parts / 100 + 2 * hops));
    CHECK(seconds(costs.costWith(Algorithm::Ring, InstructionKind::AllGather,
                                 m)) == Approx(parts / 100 + hops));
    CHECK(seconds(costs.costWith(Algorithm::Ring,
                                 InstructionKind::ReduceScatter, m)) ==
          Approx(parts / 100 + hops));
  }
}

TEST_CASE("ring over nodes: each member brings its own link") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  const auto whole = costs.costWith(Algorithm::Ring, InstructionKind::AllGather,
                                    message(kGiga, {32}, {1}));
  // 31/32 GB at 100 GB/s inside, an eighth of it at 10 GB/s outside.
  CHECK(seconds(whole) == Approx(31.0 / 32 / 8 / 10 + 3 * 10e-6 + 28 * 1e-6));
  const auto alone = costs.costWith(Algorithm::Ring, InstructionKind::AllGather,
                                    message(kGiga, {4}, {8}));
  CHECK(seconds(alone) == Approx(3.0 / 4 / 10 + 3 * 10e-6));
  CHECK_FALSE(alone.uses(0));
  CHECK(alone.uses(1));
  CHECK_FALSE(alone.uses(2));
}

TEST_CASE("oversubscription divides what a pod's links carry upwards") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  // One member a pod: all leaves through the pod's thinner links.
  const auto far = costs.costWith(Algorithm::Ring, InstructionKind::AllGather,
                                  message(kGiga, {4}, {128}));
  CHECK(seconds(far) == Approx(0.75 / 2.5 + 3 * 10e-6));
  CHECK(far.uses(1)); // through the same adapter
  // 16 in each pod: a ring crosses once a pod, and 16 links share that.
  const auto spread = costs.costWith(
      Algorithm::Ring, InstructionKind::AllGather, message(kGiga, {64}, {8}));
  CHECK(seconds(spread) == Approx(63.0 / 64 / 10 + 63 * 10e-6));
}

TEST_CASE("hierarchical beats a flat ring over the slow links") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  for (std::int64_t nodes : {2, 4, 16}) {
    const double n = static_cast<double>(8 * nodes);
    const auto m = message(kGiga, {8 * nodes}, {1});
    const double flat = 2 * (n - 1) / n / 10 + 2 * (n - 1) * 10e-6;
    const auto stepwise =
        costs.costWith(Algorithm::Hierarchical, InstructionKind::AllReduce, m);
    const double outside = static_cast<double>(nodes - 1);
    CHECK(seconds(stepwise) ==
          Approx(2 * 7.0 / 8 / 100 +
                 2 * outside / static_cast<double>(nodes) / 8 / 10 +
                 2 * 7 * 1e-6 + 2 * outside * 10e-6));
    CHECK(seconds(stepwise) < flat);
    CHECK(costs.cost(InstructionKind::AllReduce, m).total <= stepwise.total);
  }
}

TEST_CASE("a tree is quicker than a ring for little over many") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  const auto little = message(1000, {16}, {8});
  const auto tree =
      costs.costWith(Algorithm::Tree, InstructionKind::AllReduce, little);
  CHECK(seconds(tree) == Approx(2 * 4 * 10e-6 + 2000.0 / 10e9));
  CHECK(costs.cost(InstructionKind::AllReduce, little).algorithm ==
        Algorithm::Tree);
  const auto much = message(20 * kGiga, {16}, {8});
  CHECK(costs.cost(InstructionKind::AllReduce, much).algorithm ==
        Algorithm::Ring);
}

TEST_CASE("sums in the nodes' switches take the place of a tree's chains") {
  hardware::Cluster c = testCluster();
  const auto m = message(kGiga, {32}, {1});
  const auto with = [&](InstructionKind kind) {
    return CollectiveCosts(c).costWith(Algorithm::InNetworkTree, kind, m);
  };
  CHECK(with(InstructionKind::AllReduce).algorithm == Algorithm::None);
  c.levels[0].inNetworkReduction = true;
  CHECK(with(InstructionKind::AllGather).algorithm == Algorithm::None);
  // 2/8 GB over adapters of 10 GB/s are slower than 9/8 inside at 100.
  const auto cost = with(InstructionKind::AllReduce);
  CHECK(seconds(cost) == Approx(2.0 / 8 / 10 + 2 * (1e-6 + 2 * 10e-6)));
  CHECK(cost.levels[0].bytes.value == kGiga / 8 * 9);
  CHECK(cost.levels[1].bytes.value == kGiga / 8 * 2);
  // Of two nodes each byte leaves once.
  const auto two = CollectiveCosts(c).costWith(Algorithm::InNetworkTree,
                                               InstructionKind::AllReduce,
                                               message(kGiga, {16}, {1}));
  CHECK(seconds(two) == Approx(1.0 / 8 / 10 + 2 * (1e-6 + 10e-6)));
  c.levels[0].constants.reductionEfficiency = 0.25;
  CHECK(seconds(with(InstructionKind::AllReduce)) ==
        Approx(9.0 / 8 / 25 + 2 * (1e-6 + 2 * 10e-6)));
}

TEST_CASE("a ramp costs the root of the volume, in the switch its own") {
  hardware::Cluster c = testCluster();
  c.levels[0].constants.messageRamp = 7e8;
  const auto m = message(kGiga, {8}, {1});
  const auto ring = CollectiveCosts(c).costWith(Algorithm::Ring,
                                                InstructionKind::AllGather, m);
  // 7/8 GB and √(7/8 · 0.7) GB more.
  CHECK(seconds(ring) ==
        Approx((0.875 + std::sqrt(0.875 * 0.7)) / 100 + 7 * 1e-6));
  c.levels[0].inNetworkReduction = true;
  c.levels[0].constants.reductionRamp = 2e8;
  const auto summed = CollectiveCosts(c).costWith(
      Algorithm::InNetwork, InstructionKind::AllReduce, m);
  CHECK(seconds(summed) ==
        Approx((1.125 + std::sqrt(1.125 * 0.2)) / 100 + 2e-6));
}

TEST_CASE("a logarithmic gather needs one member in each node") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  const auto alone = costs.costWith(Algorithm::Tree, InstructionKind::AllGather,
                                    message(kGiga, {16}, {8}));
  CHECK(seconds(alone) == Approx(15.0 / 16 / 7.5 + 4 * 10e-6));
  const auto crowded = costs.costWith(
      Algorithm::Tree, InstructionKind::AllGather, message(kGiga, {16}, {1}));
  CHECK(crowded.algorithm == Algorithm::None);
}

TEST_CASE("the switch halves an all-reduce of many, and nothing else") {
  hardware::Cluster c = testCluster();
  const auto m = message(kGiga, {8}, {1});
  const auto without = CollectiveCosts(c).cost(InstructionKind::AllReduce, m);
  c.levels[0].inNetworkReduction = true;
  const CollectiveCosts costs(c);
  const auto with = costs.cost(InstructionKind::AllReduce, m);
  CHECK(with.algorithm == Algorithm::InNetwork);
  CHECK(seconds(with) == Approx(9.0 / 8 / 100 + 2e-6));
  CHECK(seconds(with) / seconds(without) == Approx(9.0 / 14).epsilon(0.01));
  // Of two, each sends its half and reads the sum: a ring sends less.
  CHECK(costs.cost(InstructionKind::AllReduce, message(kGiga, {2}, {1}))
            .algorithm == Algorithm::Ring);
  CHECK(costs.cost(InstructionKind::AllGather, m).algorithm == Algorithm::Ring);
  // Of n the bytes go to half: a level of many.
  c.levels[1].inNetworkReduction = true;
  c.levels[1].of = 1024;
  const auto wide = message(kGiga, {1024}, {8});
  const CollectiveCosts wider(c);
  const double ring = seconds(
      wider.costWith(Algorithm::Ring, InstructionKind::AllReduce, wide));
  const double latency = 2 * 1023 * 10e-6;
  CHECK((seconds(wider.costWith(Algorithm::InNetwork,
                                InstructionKind::AllReduce, wide)) -
         20e-6) /
            (ring - latency) ==
        Approx(0.5).epsilon(0.01));
}

TEST_CASE("switches of all levels sum at the same time") {
  hardware::Cluster c = testCluster();
  const auto m = message(kGiga, {32}, {1});
  const auto with = [&] {
    return CollectiveCosts(c).costWith(Algorithm::InNetwork,
                                       InstructionKind::AllReduce, m);
  };
  c.levels[0].inNetworkReduction = true;
  CHECK(with().algorithm == Algorithm::None); // the network does not
  c.levels[1].inNetworkReduction = true;
  // Of eight in a node each sends an eighth of the node's sum to the fabric,
  // where four nodes are; the fabric is the slower.
  CHECK(seconds(with()) == Approx(5.0 / 4 / 8 / 10 + 2e-6 + 20e-6));
  c.levels[0].constants.reductionEfficiency = 0.1;
  CHECK(seconds(with()) == Approx(9.0 / 8 / 10 + 2e-6 + 20e-6));
  CHECK(CollectiveCosts(c)
            .costWith(Algorithm::InNetwork, InstructionKind::AllGather, m)
            .algorithm == Algorithm::None);
}

TEST_CASE("what the switch takes as its share of the link is its own") {
  hardware::Cluster c = testCluster();
  c.levels[0].inNetworkReduction = true;
  c.levels[0].constants.reductionEfficiency = 0.5;
  CHECK(seconds(CollectiveCosts(c).costWith(
            Algorithm::InNetwork, InstructionKind::AllReduce,
            message(kGiga, {8}, {1}))) == Approx(9.0 / 8 / 50 + 2e-6));
}

TEST_CASE("all-to-all: what leaves a node shares its links") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  const auto inside =
      costs.cost(InstructionKind::AllToAll, message(kGiga, {8}, {1}));
  CHECK(inside.algorithm == Algorithm::Direct);
  CHECK(seconds(inside) == Approx(7.0 / 8 / 100 + 1e-6));
  const auto across =
      costs.cost(InstructionKind::AllToAll, message(kGiga, {32}, {1}));
  CHECK(seconds(across) == Approx(24.0 / 32 / 10 + 10e-6));
}

TEST_CASE("a transfer takes the link of the outermost level it crosses") {
  hardware::Cluster c = testCluster();
  c.levels[1].constants.transferEfficiency = 0.5;
  const CollectiveCosts costs(c);
  const auto near = costs.cost(InstructionKind::Send, message(kGiga, {2}, {1}));
  CHECK(near.algorithm == Algorithm::PointToPoint);
  CHECK(seconds(near) == Approx(1.0 / 100 + 1e-6));
  const auto far = costs.cost(InstructionKind::Recv, message(kGiga, {2}, {8}));
  CHECK(seconds(far) == Approx(1.0 / 5 + 10e-6));
  CHECK(
      seconds(costs.cost(InstructionKind::Send, message(kGiga, {2}, {128}))) ==
      Approx(1.0 / 2.5 + 10e-6));
}

TEST_CASE("a group of one costs nothing") {
  const hardware::Cluster c = testCluster();
  for (InstructionKind kind : kCollectives) {
    const auto cost = CollectiveCosts(c).cost(kind, message(kGiga, {}, {}));
    CHECK(cost.total.value == 0);
    CHECK(cost.algorithm == Algorithm::None);
    CHECK(cost.levels.size() == 3);
  }
}

TEST_CASE("never less for more bytes, never faster than the wire") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  struct Group {
    std::vector<std::int64_t> sizes, strides;
    double links; // of 100 GB/s or 10 GB/s into one member, in GB/s
  };
  const Group groups[] = {
      {{8}, {1}, 100}, {{3}, {1}, 100},   {{32}, {1}, 80},      {{16}, {8}, 10},
      {{64}, {8}, 10}, {{4}, {128}, 2.5}, {{2, 8}, {16, 1}, 80}};
  for (InstructionKind kind : kCollectives)
    for (const Group &group : groups) {
      Duration before;
      double n = 1;
      for (std::int64_t size : group.sizes)
        n *= static_cast<double>(size);
      for (std::int64_t bytes = 1; bytes <= 64 * kGiga; bytes *= 4) {
        const CollectiveCost cost =
            costs.cost(kind, message(bytes, group.sizes, group.strides));
        CHECK(cost.total >= before);
        CHECK(cost.latency <= cost.total);
        // A member has (n - 1)/n to receive, whatever the algorithm; of an
        // all-to-all, what is not from its own node comes over its own link.
        const double received = static_cast<double>(bytes) * (n - 1) / n;
        const double links =
            kind == InstructionKind::AllToAll ? 100 : group.links;
        CHECK(toSeconds(cost.total) >= received / (links * 1e9));
        for (const LevelUse &level : cost.levels)
          CHECK((level.share >= 0 && level.share <= kWhole));
        before = cost.total;
      }
    }
}

TEST_CASE("an efficiency scales bytes, a half adds a message of that size") {
  hardware::Cluster c = testCluster();
  c.levels[0].constants.efficiency = 0.5;
  c.levels[0].constants.messageHalf = 1e6;
  c.accelerator.constants.collectiveStart = 5e-6;
  const auto cost =
      CollectiveCosts(c).costWith(Algorithm::Ring, InstructionKind::AllGather,
                                  message(8'000'000, {8}, {1}));
  CHECK(seconds(cost) == Approx((7e6 + 1e6) / 50e9 + 7e-6 + 5e-6));
  CHECK(toSeconds(cost.latency) == Approx(12e-6));
}

TEST_CASE("shares of links, units and memory while it runs") {
  hardware::Cluster c = testCluster();
  c.levels[0].constants.collectiveUnits = 20;
  c.levels[1].constants.collectiveUnits = 4;
  const CollectiveCosts costs(c);
  const auto inside =
      costs.cost(InstructionKind::AllGather, message(64 * kGiga, {8}, {1}));
  CHECK(inside.units == 20);
  CHECK(inside.levels[0].share == Approx(kWhole).epsilon(0.001));
  CHECK(inside.memoryTraffic.value == 2 * 7 * 8 * kGiga);
  // 100 GB/s in, 100 GB/s out, of 1 TB/s.
  CHECK(inside.memoryShare == Approx(0.2 * kWhole).epsilon(0.001));
  const auto across =
      costs.cost(InstructionKind::AllGather, message(64 * kGiga, {16}, {8}));
  CHECK(across.units == 4);
  CHECK(across.levels[0].share == 0);
  // A node's ring is held up by the adapters: 80 of 100 GB/s inside.
  const auto both =
      costs.cost(InstructionKind::AllGather, message(64 * kGiga, {128}, {1}));
  CHECK(both.units == 20);
  CHECK(both.levels[0].share == Approx(0.8 * kWhole).epsilon(0.01));
  CHECK(both.levels[1].share == Approx(kWhole).epsilon(0.01));
}

TEST_CASE("permutation: one message each, the slowest border sets the time") {
  const hardware::Cluster c = testCluster();
  const CollectiveCosts costs(c);
  const auto time = [&](std::vector<std::int64_t> sizes,
                        std::vector<std::int64_t> strides) {
    return seconds(costs.cost(InstructionKind::CollectivePermute,
                              message(kGiga, sizes, strides)));
  };
  CHECK(time({4}, {1}) == Approx(1.0 / 100 + 1e-6));
  // One member of each node sends through its own adapter.
  CHECK(time({32}, {1}) == Approx(1.0 / 10 + 10e-6));
  // And pods' links upwards are four times thinner.
  CHECK(time({4}, {128}) == Approx(1.0 / 2.5 + 10e-6));
  const auto inside =
      costs.cost(InstructionKind::CollectivePermute, message(kGiga, {4}, {1}));
  CHECK(inside.uses(0));
  CHECK_FALSE(inside.uses(1));
  CHECK(inside.levels[0].bytes == Bytes(kGiga));
}

TEST_CASE("steps of a gather are copies, and together ramp up once") {
  hardware::Cluster c = testCluster();
  c.levels[0].constants.messageHalf = 1e8;
  c.levels[0].constants.collectiveUnits = 20;
  const CollectiveCosts costs(c);
  const auto gather =
      costs.cost(InstructionKind::AllGather, message(4 * kGiga, {4}, {1}));
  const auto step =
      costs.cost(InstructionKind::CollectiveStep, message(kGiga, {4}, {1}));
  CHECK(gather.units == 20);
  CHECK(step.units == 0);
  CHECK(step.memoryTraffic.value == 2 * kGiga);
  CHECK(3 * seconds(step) == Approx(seconds(gather)));
}
