// What experts cost: exchanges of tokens, and grouped products (C1, C9).
#include "runtime/cost/CollectiveCost.h"
#include "runtime/cost/MatMulCost.h"
#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

#include <cmath>

using namespace planc;
using namespace planc::cost;
using program::InstructionKind;

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

CollectiveCost exchange(program::Message message, std::int64_t copies,
                        std::int64_t nodes) {
  static const hardware::Cluster cluster = testCluster();
  message.copies = copies;
  message.nodes = nodes;
  return CollectiveCosts(cluster).cost(InstructionKind::AllToAll, message);
}

} // namespace

TEST_CASE("C9: every copy of a token by itself") {
  const auto m = message(kGiga, {64}, {1});
  const CollectiveCost plain = exchange(m, 0, 0);
  CHECK(exchange(m, 8, 0).total == plain.total);
  // 56 of 64 leave the node at 10 GB/s, 7 of 64 stay in it.
  CHECK(toSeconds(plain.total) == Approx(56.0 / 64 / 10 + 10e-6));
  CHECK(plain.levels[0].bytes == Bytes(kGiga / 64 * 7));
}

TEST_CASE("C9: once to each node, and handed on inside") {
  const auto m = message(kGiga, {64}, {1});
  // Eight copies on at most four of eight nodes: half of the bytes go out, all
  // are handed on by NVLink.
  const CollectiveCost limited = exchange(m, 8, 4);
  CHECK(toSeconds(limited.total) ==
        Approx(0.5 * 56.0 / 64 / 10 + 10e-6 + 1e-6));
  CHECK(limited.levels[1].bytes == Bytes(kGiga / 2 / 64 * 56));
  CHECK(limited.levels[0].bytes == Bytes(kGiga / 8 * 7));
  // Without a limit that binds: as many nodes as eight experts meet.
  const double met = 8 * (1 - std::pow(7.0 / 8, 8));
  CHECK(toSeconds(exchange(m, 8, 64).total) ==
        Approx(met / 8 * 56.0 / 64 / 10 + 10e-6 + 1e-6));
  // One copy has nothing to share.
  CHECK(exchange(m, 1, 4).total == exchange(m, 1, 0).total);
}

TEST_CASE("C9: inside a node nothing is handed on") {
  const auto m = message(kGiga, {8}, {1});
  CHECK(exchange(m, 8, 4).total == exchange(m, 0, 0).total);
  const auto apart = message(kGiga, {8}, {8}); // one member a node
  CHECK(exchange(apart, 8, 4).total == exchange(apart, 0, 0).total);
}

TEST_CASE("C1: rows that differ end within a tile") {
  hardware::Accelerator a = testCluster().accelerator;
  a.units = 128;
  a.constants.tileHalf = 1e6; // smaller tiles do not pay
  const MatMulRates rates{100e12, 1.0, 1e12};
  using Rows = MatMulShape::Rows;
  auto time = [&](std::int64_t experts, std::int64_t rows, Rows differ) {
    return matmulSeconds(a, {experts, rows, 8192, 4096, differ}, rates);
  };
  // Four tiles of 128 rows are 4 and, on average, a half.
  CHECK(time(8, 512, Rows::Differ) / time(8, 512, Rows::Equal) ==
        Approx(4.5 / 4).epsilon(0.02));
  // Few rows: a tile an expert, however few.
  CHECK(time(8, 4, Rows::Differ) == Approx(time(8, 16, Rows::Differ)));
  // Many: no difference.
  CHECK(time(8, 128 * 64, Rows::Differ) / time(8, 128 * 64, Rows::Equal) <
        1.02);
}
