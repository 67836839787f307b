#include "runtime/cost/MatMulCost.h"
#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

#include <cmath>

using namespace planc;
using namespace planc::cost;

namespace {

/// One tile of 128 × 256 and nothing smaller that would pay.
hardware::Accelerator chip() {
  hardware::Accelerator a = testCluster().accelerator;
  a.units = 132;
  a.constants.tileHalf = 1e6; // smaller tiles are slower as they are smaller
  return a;
}

const MatMulRates kRates{100e12, 1.0, 1e12};

double efficiency(const hardware::Accelerator &a, MatMulShape s,
                  MatMulRates rates = kRates) {
  const double flops = 2.0 * static_cast<double>(s.batch) *
                       static_cast<double>(s.m) * static_cast<double>(s.n) *
                       static_cast<double>(s.k);
  return flops / (rates.peak * matmulSeconds(a, s, rates));
}

} // namespace

TEST_CASE("full waves of full tiles reach the cap") {
  CHECK(efficiency(chip(), {1, 128 * 12, 256 * 11, 4096}) == Approx(1.0));
  MatMulRates rates = kRates;
  rates.efficiency = 0.8;
  CHECK(efficiency(chip(), {1, 128 * 12, 256 * 11, 4096}, rates) ==
        Approx(0.8));
}

TEST_CASE("one tile more than the units is another wave") {
  // 133 tiles on 132 units: two waves, unless smaller tiles do better. Here
  // they are half as fast, so that two half waves gain nothing.
  const double one = efficiency(chip(), {132, 128, 256, 4096});
  const double more = efficiency(chip(), {133, 128, 256, 4096});
  CHECK(one == Approx(1.0));
  CHECK(more < 0.7);
  CHECK(more >= Approx(133.0 / 264));
  CHECK(efficiency(chip(), {264, 128, 256, 4096}) == Approx(1.0));
}

TEST_CASE("smaller tiles fill the last wave when they cost little") {
  hardware::Accelerator a = chip();
  a.constants.tileHalf = 0;
  CHECK(efficiency(a, {133, 128, 256, 4096}) >
        efficiency(chip(), {133, 128, 256, 4096}));
}

TEST_CASE("a partly filled tile is padding") {
  const double whole = matmulSeconds(chip(), {132, 128, 256, 4096}, kRates);
  const double part = matmulSeconds(chip(), {132, 100, 256, 4096}, kRates);
  CHECK(part == Approx(whole));
}

TEST_CASE("k has a start and an end") {
  hardware::Accelerator a = chip();
  a.constants.kHalf = 128;
  CHECK(efficiency(a, {132, 128, 256, 128}) == Approx(0.5));
  CHECK(efficiency(a, {132, 128, 256, 1152}) == Approx(0.9));
}

TEST_CASE("few tiles with a long k are split, and pay for partial sums") {
  // One tile on 132 units: at least sixteen share its k.
  const double everywhere = 2.0 * 128 * 256 * 1e6 / 100e12;
  const MatMulShape shape{1, 128, 256, 1'000'000};
  const double t = matmulSeconds(chip(), shape, kRates);
  CHECK(t > everywhere);
  CHECK(t < everywhere * 132 / 16 + 16.0 * 128 * 256 * 8 / 1e12);
  // Where sums are dear, whole tiles on one unit each are better.
  MatMulRates slow = kRates;
  slow.bandwidth = 1e6;
  CHECK(matmulSeconds(chip(), shape, slow) > 2 * t);
  CHECK(matmulSeconds(chip(), shape, slow) <= everywhere * 132);
}

TEST_CASE("efficiency never passes the cap, time grows with every extent") {
  const hardware::Accelerator a = testCluster().accelerator;
  for (std::int64_t m : {1, 64, 100, 1000, 4096})
    for (std::int64_t n : {1, 96, 512, 3000})
      for (std::int64_t k : {16, 1000, 8192}) {
        CHECK(efficiency(a, {1, m, n, k}) <= 1.0 + 1e-12);
        const double t = matmulSeconds(a, {1, m, n, k}, kRates);
        CHECK(matmulSeconds(a, {1, 4 * m, n, k}, kRates) >= t);
        CHECK(matmulSeconds(a, {1, m, 4 * n, k}, kRates) >= t);
        CHECK(matmulSeconds(a, {2, m, n, k}, kRates) >= t);
      }
}

TEST_CASE("nothing to multiply takes no time") {
  CHECK(matmulSeconds(chip(), {1, 0, 256, 4096}, kRates) == 0);
}

TEST_CASE("rows that are no multiples of 16 bytes keep a share") {
  hardware::Accelerator a = chip();
  a.constants.tileHalf = 0;
  CHECK(alignedShare(a, 50257, 2) == 1); // an accelerator that says nothing
  a.constants.unalignedEfficiency = 0.4;
  const double halving = std::cbrt(0.4);
  CHECK(alignedShare(a, 50304, 2) == 1);
  CHECK(alignedShare(a, 108, 2) == Approx(halving)); // multiples of 8 bytes
  CHECK(alignedShare(a, 150, 2) == Approx(halving * halving));
  CHECK(alignedShare(a, 50257, 2) == Approx(0.4));
  // As many bytes, other formats.
  CHECK(alignedShare(a, 1000, 1) == Approx(halving));
  CHECK(alignedShare(a, 1004, 4) == 1);
  CHECK(alignedShare(a, 1001, 4) == Approx(halving * halving));
  const double odd = matmulSeconds(a, {1, 2048, 2047, 1024}, kRates);
  const double even = matmulSeconds(a, {1, 2048, 2048, 1024}, kRates);
  CHECK(odd == Approx(even / 0.4).epsilon(0.01));
  // Tokens are no row's length.
  CHECK(matmulSeconds(a, {1, 2047, 2048, 1024}, kRates) <= even);
  CHECK(matmulSeconds(a, {1, 2048, 2048, 1023}, kRates) <= even);
}
