// The forms of the laws against published series: one constant each, and the
// rest of the series follows.
#include "runtime/cost/CollectiveCost.h"
#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

using namespace planc;
using namespace planc::cost;
using program::InstructionKind;

TEST_CASE("nvlink sharp: bus bandwidth of 5 to 8 from one rate") {
  // H100, NVIDIA/nccl 1455; of 4 the ring's 370 GB/s is as good.
  hardware::Cluster c = testCluster();
  c.levels[0].link = ByteRate(450'000'000'000);
  c.levels[0].inNetworkReduction = true;
  c.levels[0].constants.efficiency = 0.8;
  c.levels[0].constants.reductionEfficiency = 0.685;
  const CollectiveCosts costs(c);
  const auto busBandwidth = [&](Algorithm algorithm, std::int64_t n) {
    const double bytes = 16e9, members = static_cast<double>(n);
    const CollectiveCost cost =
        costs.costWith(algorithm, InstructionKind::AllReduce,
                       message(static_cast<std::int64_t>(bytes), {n}, {1}));
    return bytes * 2 * (members - 1) / members / toSeconds(cost.total) / 1e9;
  };
  const double published[] = {420, 440, 460, 480};
  for (std::int64_t n = 5; n <= 8; ++n) {
    // Members of a group of 5 straddle nodes of 8: a node of n.
    c.levels[0].of = n;
    CHECK(busBandwidth(Algorithm::InNetwork, n) ==
          Approx(published[n - 5]).epsilon(0.03));
  }
  c.levels[0].of = 4;
  CHECK(busBandwidth(Algorithm::InNetwork, 4) ==
        Approx(busBandwidth(Algorithm::Ring, 4)).epsilon(0.05));
}

TEST_CASE("flash attention: one efficiency gives the fall over keys") {
  // FlashAttention-2, arXiv 2307.08691 figure 4: A100, causal, head size 64,
  // forward and backward, 512 to 16k positions and 16k tokens in all.
  const double published[] = {88, 119, 140, 156, 165, 171};
  hardware::Cluster c = testCluster();
  c.accelerator.peaks[0].rate = FlopRate(312'000'000'000'000);
  c.accelerator.bandwidth = ByteRate(2'039'000'000'000);
  c.accelerator.constants.flash2Efficiency = 0.69;
  c.accelerator.constants.flash2GradEfficiency = 0.59;
  c.accelerator.constants.attentionHalf = 235;
  c.accelerator.constants.attentionHeadHalf = 14;
  const RooflineCostModel model(c, {});
  for (int i = 0; i < 6; ++i) {
    program::Work work;
    work.m = work.n = std::int64_t{512} << i;
    work.k = 64;
    work.batch = work.keyHeads = 32 * (16384 / work.m);
    work.flops = Flops(2 * work.batch * work.m * work.n * work.k);
    const double forward =
        toSeconds(model.compute(InstructionKind::Attention, work).total);
    const double flops = work.flops.toDouble();
    work.flops = Flops(work.flops.value / 2 * 5);
    const double backward =
        toSeconds(model.compute(InstructionKind::AttentionGrad, work).total);
    CHECK(3.5 * flops / (forward + backward) / 1e12 ==
          Approx(published[i]).epsilon(0.05));
  }
}
