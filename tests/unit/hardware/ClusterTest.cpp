#include "runtime/hardware/Cluster.h"
#include "tests/unit/Catch.h"

#include <limits>

using namespace planc;
using namespace planc::hardware;

namespace {

Cluster sound() {
  Cluster c;
  c.name = "pods";
  c.accelerator.name = "chip";
  c.accelerator.peaks = {{Precision::Bf16, FlopRate(1'000'000'000'000)},
                         {Precision::Fp8, FlopRate(2'000'000'000'000)}};
  c.accelerator.memory = Bytes(80'000'000'000);
  c.accelerator.bandwidth = ByteRate(3'000'000'000'000);
  c.accelerator.units = 132;
  Level node, pod;
  node.name = "node";
  node.of = 8;
  node.link = ByteRate(450'000'000'000);
  pod.name = "pod";
  pod.of = 384;
  pod.link = ByteRate(50'000'000'000);
  c.levels = {node, pod};
  return c;
}

/// The rule broken, when it is the only one.
std::string broken(const Cluster &cluster) {
  const std::vector<std::string> lines = verify(cluster);
  return lines.size() == 1 ? lines[0].substr(0, 2)
                           : std::to_string(lines.size());
}

} // namespace

TEST_CASE("sizes are products from the inside out") {
  const Cluster c = sound();
  CHECK(c.groupSize(0) == 8);
  CHECK(c.groupSize(1) == 3072);
  CHECK(c.size() == 3072);
}

TEST_CASE("a size that does not fit saturates") {
  Cluster c = sound();
  c.levels[0].of = c.levels[1].of = std::int64_t{1} << 40;
  CHECK(c.size() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a peak is that of its precision only") {
  const Cluster c = sound();
  CHECK(c.accelerator.peak(Precision::Fp8)->value == 2'000'000'000'000);
  CHECK_FALSE(c.accelerator.peak(Precision::Fp32));
}

TEST_CASE("a sound cluster breaks no rule") { CHECK(verify(sound()).empty()); }

TEST_CASE("d1: at least one level") {
  Cluster c = sound();
  c.levels.clear();
  CHECK(broken(c) == "D1");
}

TEST_CASE("d2: levels have members") {
  Cluster c = sound();
  c.levels[1].of = 0;
  CHECK(broken(c) == "D2");
}

TEST_CASE("d3: the size fits in 64 bits") {
  Cluster c = sound();
  c.levels[0].of = c.levels[1].of = std::int64_t{1} << 40;
  CHECK(broken(c) == "D3");
}

TEST_CASE("d4, d5: units, memory, bandwidth") {
  Cluster c = sound();
  c.accelerator.units = 0;
  CHECK(broken(c) == "D4");
  c = sound();
  c.accelerator.bandwidth = ByteRate(0);
  CHECK(broken(c) == "D5");
}

TEST_CASE("d6: a positive peak, each precision once") {
  Cluster c = sound();
  c.accelerator.peaks.clear();
  CHECK(broken(c) == "D6");
  c = sound();
  c.accelerator.peaks[1].precision = Precision::Bf16;
  CHECK(broken(c) == "D6");
  c = sound();
  c.accelerator.peaks[0].rate = FlopRate(0);
  CHECK(broken(c) == "D6");
}

TEST_CASE("d7: constants are not negative, efficiencies at most one") {
  Cluster c = sound();
  c.accelerator.constants.matmulEfficiency = 1.01;
  CHECK(broken(c) == "D7");
  c = sound();
  c.accelerator.constants.kHalf = -1;
  CHECK(broken(c) == "D7");
  c = sound();
  c.accelerator.constants.kHalf = 500;
  CHECK(verify(c).empty());
  c.levels[0].constants.efficiency = 0;
  CHECK(broken(c) == "D7");
}

TEST_CASE("d8: links have a rate") {
  Cluster c = sound();
  c.levels[0].link = ByteRate(0);
  CHECK(broken(c) == "D8");
  c = sound();
  c.levels[1].oversubscription = 0.5;
  CHECK(broken(c) == "D8");
}

TEST_CASE("d9: the reserve fits in memory") {
  Cluster c = sound();
  c.reserve = Bytes(81'000'000'000);
  CHECK(broken(c) == "D9");
}

TEST_CASE("d10: a torus comes first, a full mesh is of accelerators") {
  Cluster c = sound();
  CHECK(c.torusLevels() == 0);
  c.levels[1].wiring = Wiring::Torus;
  CHECK(verify(c).size() == 1);
  CHECK(verify(c)[0].substr(0, 3) == "D10");
  c.levels[0].wiring = Wiring::Torus;
  CHECK(verify(c).empty());
  CHECK(c.torusLevels() == 2);
  c = sound();
  c.levels[0].wiring = Wiring::FullMesh;
  CHECK(verify(c).empty());
  c.levels[1].wiring = Wiring::FullMesh;
  CHECK(verify(c).size() == 1);
}
