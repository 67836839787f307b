#include "runtime/cost/HostCost.h"

#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

using namespace planc;
using namespace planc::cost;
using program::InstructionKind;

namespace {

/// Eight accelerators a host: 100 GB/s of its memory each, links of 50 GB/s.
hardware::Cluster withHost() {
  hardware::Cluster cluster = testCluster();
  cluster.host.memory = Bytes(1'000'000'000'000);
  cluster.host.bandwidth = ByteRate(800'000'000'000);
  cluster.host.link = ByteRate(50'000'000'000);
  cluster.host.latency = Duration(5'000'000);
  return cluster;
}

program::Message bytes(std::int64_t count) { return message(count, {}, {}); }

} // namespace

TEST_CASE("a copy to the host takes its link, and a part of both memories") {
  const hardware::Cluster cluster = withHost();
  const CollectiveCost cost =
      hostCost(cluster, InstructionKind::HostOut, bytes(50'000'000'000));
  CHECK(toSeconds(cost.total) == Approx(1.000005));
  CHECK(cost.latency.value == 5'000'000);
  REQUIRE(cost.levels.size() == cluster.levels.size() + 1);
  CHECK(cost.levels.back().share == kWhole / 2); // 50 of 100 GB/s
  CHECK(cost.memoryShare == kWhole / 20);        // 50 of 1000 GB/s
  CHECK(cost.memoryTraffic.value == 50'000'000'000);
  CHECK(hostCost(cluster, InstructionKind::HostIn, bytes(50'000'000'000))
            .total.value == cost.total.value);
}

TEST_CASE("a slow host's memory bounds copies, and who shares it") {
  hardware::Cluster cluster = withHost();
  cluster.host.bandwidth = ByteRate(80'000'000'000);
  CollectiveCost cost =
      hostCost(cluster, InstructionKind::HostIn, bytes(10'000'000'000));
  CHECK(toSeconds(cost.total) == Approx(1.000005));
  CHECK(cost.levels.back().share == kWhole);

  cluster.host.accelerators = 2; // 40 GB/s each
  cost = hostCost(cluster, InstructionKind::HostIn, bytes(40'000'000'000));
  CHECK(toSeconds(cost.total) == Approx(1.000005));
}

TEST_CASE("the host's update is bound by its memory and takes no link") {
  const hardware::Cluster cluster = withHost();
  const CollectiveCost cost =
      hostCost(cluster, InstructionKind::HostUpdate, bytes(100'000'000'000));
  CHECK(toSeconds(cost.total) == Approx(1.0));
  CHECK(cost.levels.back().share == kWhole);
  CHECK(cost.memoryTraffic.value == 0);
  CHECK(cost.memoryShare == 0);
}

TEST_CASE("nothing to move, or no host stated, costs nothing") {
  CHECK(hostCost(withHost(), InstructionKind::HostOut, bytes(0)).total.value ==
        0);
  CHECK(hostCost(testCluster(), InstructionKind::HostOut, bytes(1'000'000))
            .total.value == 0);
}
