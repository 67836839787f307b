#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

#include <limits>

using namespace planc;
using namespace planc::cost;
using program::InstructionKind;

TEST_CASE("a bucket's line follows the collective it is for") {
  const RooflineCostModel model(testCluster(), {});
  for (InstructionKind kind :
       {InstructionKind::AllReduce, InstructionKind::ReduceScatter}) {
    auto m = message(0, {16}, {8});
    const BucketCost line = model.bucket(kind, m);
    for (std::int64_t mebibytes : {32, 100, 512, 1000}) {
      m.bytes = Bytes(mebibytes << 20);
      CHECK(toSeconds(line.at(m.bytes)) ==
            Approx(toSeconds(model.communicate(kind, m).total)).epsilon(0.03));
    }
  }
  CHECK(model.bucket(InstructionKind::AllReduce, message(0, {}, {}))
            .at(Bytes(1 << 30))
            .value == 0);
}

TEST_CASE("a bucket's line does not overflow") {
  BucketCost line;
  line.start = Duration(5);
  line.perMebibyte = Duration(std::int64_t{1} << 40);
  CHECK(line.at(Bytes(0)).value == 5);
  CHECK(line.at(Bytes(1)).value == 5 + (std::int64_t{1} << 20));
  CHECK(line.at(Bytes(std::numeric_limits<std::int64_t>::max())).value ==
        std::numeric_limits<std::int64_t>::max() / 2);
}

TEST_CASE("beside a collective, arithmetic has the units that are left") {
  ComputeCost kernel;
  kernel.bound = Bound::Arithmetic;
  kernel.memoryShare = 300'000;
  Beside beside;
  CHECK(computeRate(kernel, beside, 132) == kWhole);
  CollectiveCost collective;
  collective.units = 20;
  collective.memoryShare = 100'000;
  beside.add(collective);
  CHECK(computeRate(kernel, beside, 132) == 112 * kWhole / 132);
  // Until the memory it wants is no longer there.
  kernel.memoryShare = kWhole;
  collective.units = 0;
  collective.memoryShare = 400'000;
  beside.add(collective);
  CHECK(computeRate(kernel, beside, 132) == 500'000);
}

TEST_CASE("beside a collective, streaming has the bandwidth that is left") {
  ComputeCost kernel;
  kernel.bound = Bound::Memory;
  kernel.memoryShare = kWhole;
  const Beside beside{20, 200'000};
  CHECK(computeRate(kernel, beside, 132) == 800'000);
  // Whatever runs beside, it gets a turn.
  CHECK(computeRate(kernel, {132, 2 * kWhole}, 132) > 0);
}

TEST_CASE("the same question has the same answer") {
  const RooflineCostModel model(testCluster(), {});
  const auto m = message(123'456'789, {2, 8}, {16, 1});
  const CollectiveCost a = model.communicate(InstructionKind::AllReduce, m);
  const CollectiveCost b = model.communicate(InstructionKind::AllReduce, m);
  CHECK(a.total == b.total);
  CHECK(a.algorithm == b.algorithm);
  CHECK(toString(a.algorithm) == toString(b.algorithm));
  CHECK(model.units() == 100);
}
