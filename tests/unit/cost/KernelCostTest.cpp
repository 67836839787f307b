#include "tests/unit/Catch.h"
#include "tests/unit/cost/TestCluster.h"

using namespace planc;
using namespace planc::cost;
using hardware::AttentionKernel;
using program::InstructionKind;
using program::Work;

namespace {

Work product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Work w;
  w.m = m;
  w.n = n;
  w.k = k;
  w.flops = Flops(2 * m * n * k);
  w.bytesRead = Bytes(2 * (m * k + k * n));
  w.bytesWritten = Bytes(2 * m * n);
  return w;
}

Work moved(std::int64_t bytes) {
  Work w;
  w.bytesRead = Bytes(bytes / 2);
  w.bytesWritten = Bytes(bytes - bytes / 2);
  return w;
}

/// Causal attention of 8 heads over s positions, forward.
Work attention(std::int64_t s, std::int64_t head) {
  Work w;
  w.batch = w.keyHeads = 8;
  w.m = w.n = s;
  w.k = head;
  w.flops = Flops(2 * 8 * s * s * head);
  w.bytesRead = Bytes(3 * 2 * 8 * s * head);
  w.bytesWritten = Bytes(2 * 8 * s * head);
  return w;
}

double seconds(const ComputeCost &cost) { return toSeconds(cost.total); }

} // namespace

TEST_CASE(
    "memory operations: bytes over bandwidth, a ramp and a gap a kernel") {
  hardware::Cluster c = testCluster();
  c.accelerator.constants.memoryEfficiency = 0.8;
  c.accelerator.constants.memoryHalf = 1e6;
  c.accelerator.constants.launchGap = 1e-6;
  const RooflineCostModel model(c, {});
  Work w = moved(100'000'000);
  const ComputeCost one = model.compute(InstructionKind::Memory, w);
  CHECK(seconds(one) == Approx(101e6 / 0.8e12 + 1e-6));
  CHECK(one.launch.value == 1'000'000);
  CHECK(one.arithmetic.value == 0);
  CHECK(one.bound == Bound::Memory);
  CHECK(one.memoryShare == kWhole);
  w.kernels = 3;
  CHECK(seconds(model.compute(InstructionKind::Memory, w)) ==
        Approx(103e6 / 0.8e12 + 3e-6));
  CHECK(seconds(model.compute(InstructionKind::Update, w)) ==
        Approx(103e6 / 0.8e12 + 3e-6));
  Options graphs;
  graphs.launch = Options::Launch::Graphs;
  CHECK(RooflineCostModel(c, graphs)
            .compute(InstructionKind::Memory, w)
            .launch.value == 0);
}

TEST_CASE("a product is bound by arithmetic or by its bytes") {
  const RooflineCostModel model(testCluster(), {});
  const ComputeCost square =
      model.compute(InstructionKind::MatMul, product(5120, 5120, 5120));
  CHECK(square.bound == Bound::Arithmetic);
  CHECK(toSeconds(square.arithmetic) ==
        Approx(2.0 * 5120 * 5120 * 5120 / 100e12));
  CHECK(square.total >= square.arithmetic);
  CHECK(square.memoryShare < kWhole);
  const ComputeCost thin =
      model.compute(InstructionKind::MatMul, product(16, 51200, 5120));
  CHECK(thin.bound == Bound::Memory);
  CHECK(seconds(thin) ==
        Approx(2.0 * (16 * 5120 + 5120.0 * 51200 + 16 * 51200) / 1e12));
}

TEST_CASE("a precision runs at its own peak, or at the next wider one's") {
  const RooflineCostModel model(testCluster(), {});
  Work w = product(8192, 8192, 8192);
  const double bf16 =
      toSeconds(model.compute(InstructionKind::MatMul, w).arithmetic);
  w.precision = Precision::Fp8;
  CHECK(toSeconds(model.compute(InstructionKind::MatMul, w).arithmetic) ==
        Approx(bf16 / 2));
  w.precision = Precision::Fp32; // not stated: the lowest
  CHECK(toSeconds(model.compute(InstructionKind::MatMul, w).arithmetic) ==
        Approx(bf16));
  w.precision = Precision::Int8; // as wide as fp8
  CHECK(toSeconds(model.compute(InstructionKind::MatMul, w).arithmetic) ==
        Approx(bf16 / 2));
}

TEST_CASE("8-bit products have their own efficiency where it is stated") {
  hardware::Cluster c = testCluster();
  c.accelerator.constants.matmulEfficiency = 0.8;
  Work w = product(12800, 25600, 65536);
  w.precision = Precision::Fp8;
  const double before =
      seconds(RooflineCostModel(c, {}).compute(InstructionKind::MatMul, w));
  c.accelerator.constants.matmulEfficiency8 = 0.4;
  const double after =
      seconds(RooflineCostModel(c, {}).compute(InstructionKind::MatMul, w));
  CHECK(after == Approx(2 * before).epsilon(0.01));
}

TEST_CASE("a kernel waits for its host, and for what runs after it") {
  hardware::Cluster c = testCluster();
  const Work w = product(4096, 4096, 4096);
  Work more = w;
  more.hostWait = Duration(7'000'000);
  more.bytesAfter = Bytes(100'000'000);
  const RooflineCostModel model(c, {});
  const ComputeCost plain = model.compute(InstructionKind::MatMul, w);
  const ComputeCost both = model.compute(InstructionKind::MatMul, more);
  Work sum;
  sum.bytesRead = Bytes(100'000'000);
  const Duration alone = model.compute(InstructionKind::Memory, sum).total -
                         model.compute(InstructionKind::Memory, sum).launch;
  CHECK(both.after == alone);
  CHECK(both.launch == plain.launch + more.hostWait);
  CHECK(both.total == plain.total + more.hostWait + alone);
  CHECK(both.arithmetic == plain.arithmetic);
  CHECK(both.memoryShare > plain.memoryShare);
  CHECK(both.memoryShare <= kWhole);
}

TEST_CASE("fused attention: efficiency falls with fewer keys, smaller heads") {
  hardware::Cluster c = testCluster();
  c.accelerator.constants.flash2Efficiency = 0.6;
  c.accelerator.constants.flash2GradEfficiency = 0.5;
  c.accelerator.constants.attentionHalf = 256;
  c.accelerator.constants.attentionHeadHalf = 64;
  const RooflineCostModel model(c, {});
  const auto efficiency = [&](std::int64_t s, std::int64_t head) {
    const Work w = attention(s, head);
    return w.flops.toDouble() / 100e12 /
           seconds(model.compute(InstructionKind::Attention, w));
  };
  // Causal: a query sees s/2 keys on average.
  CHECK(efficiency(2048, 128) == Approx(0.6 * 1024 / 1280));
  CHECK(efficiency(65536, 128) == Approx(0.6 * 32768 / 33024));
  CHECK(efficiency(2048, 64) == Approx(0.6 * 1024 / 1280 * 0.5 * 1.5));
  Work back = attention(2048, 128);
  back.flops = Flops(back.flops.value / 2 * 5);
  CHECK(back.flops.toDouble() / 100e12 /
            seconds(model.compute(InstructionKind::AttentionGrad, back)) ==
        Approx(0.5 * 1024 / 1280));
}

TEST_CASE("the newest kernel is the one the accelerator has") {
  hardware::Cluster c = testCluster();
  c.accelerator.constants.flash2Efficiency = 0.4;
  const Work w = attention(8192, 128);
  const auto with = [&](std::optional<AttentionKernel> kernel) {
    Options options;
    options.attention = kernel;
    return seconds(
        RooflineCostModel(c, options).compute(InstructionKind::Attention, w));
  };
  CHECK_FALSE(hasKernel(c.accelerator, AttentionKernel::Flash3));
  CHECK(with(std::nullopt) == with(AttentionKernel::Flash2));
  c.accelerator.constants.flash2Efficiency = 0;
  CHECK(newestKernel(c.accelerator) == AttentionKernel::Unfused);
  CHECK(with(std::nullopt) == with(AttentionKernel::Unfused));
  c.accelerator.constants.cudnnEfficiency = 0.5;
  c.accelerator.constants.cudnnGradEfficiency = 0.5;
  CHECK(newestKernel(c.accelerator) == AttentionKernel::Cudnn);
  CHECK(with(AttentionKernel::Flash2) == with(AttentionKernel::Cudnn));
  c.accelerator.constants.flash2Efficiency = 0.4;
  c.accelerator.constants.flash3Efficiency = 0.8;
  c.accelerator.constants.flash3GradEfficiency = 0.6;
  CHECK(hasKernel(c.accelerator, AttentionKernel::Flash3));
  CHECK(with(std::nullopt) == with(AttentionKernel::Flash3));
  CHECK(with(AttentionKernel::Flash3) ==
        Approx(with(AttentionKernel::Flash2) / 2));
  c.accelerator.constants.flash1Efficiency = 0.2;
  c.accelerator.constants.flash1GradEfficiency = 0.2;
  CHECK(with(AttentionKernel::Flash1) ==
        Approx(2 * with(AttentionKernel::Flash2)));
  c.accelerator.constants.flash2Efficiency = 0;
  c.accelerator.constants.flash3Efficiency = 0;
  c.accelerator.constants.cudnnEfficiency = 0;
  CHECK(newestKernel(c.accelerator) == AttentionKernel::Unfused);
}

TEST_CASE("unfused attention pays for every score several times") {
  hardware::Cluster c = testCluster();
  Options unfused;
  unfused.attention = AttentionKernel::Unfused;
  Work w = attention(4096, 128);
  const double fused =
      seconds(RooflineCostModel(c, {}).compute(InstructionKind::Attention, w));
  // The full square, and the scores through memory: written, read, written,
  // read.
  const double scores = 8.0 * 4096 * 4096;
  w.flops = Flops(2 * w.flops.value);
  w.bytesRead += Bytes(static_cast<std::int64_t>(2 * 2 * scores));
  w.bytesWritten += Bytes(static_cast<std::int64_t>(2 * 2 * scores));
  w.kernels = 3;
  const RooflineCostModel model(c, unfused);
  const ComputeCost cost = model.compute(InstructionKind::Attention, w);
  // Products cover the pass of the scores they make or consume themselves.
  const double products = 2 * 2 * scores * 128 / 100e12;
  const double between = 2 * 2 * scores / 1e12;
  CHECK(seconds(cost) >= products + between);
  CHECK(seconds(cost) <= 1.3 * products + between);
  CHECK(seconds(cost) > fused);
  CHECK(cost.memoryShare < kWhole);
  // Of the four products of the backward three consume scores.
  Work back = w;
  back.flops = Flops(2 * w.flops.value);
  const double half =
      seconds(model.compute(InstructionKind::AttentionGrad, back));
  CHECK(half >= 2 * products);
  CHECK(half >= seconds(cost));
}

TEST_CASE("unfused attention over short heads is bound by its scores") {
  hardware::Cluster c = testCluster();
  c.accelerator.bandwidth = ByteRate(100'000'000'000);
  Options unfused;
  unfused.attention = AttentionKernel::Unfused;
  Work w = attention(4096, 16);
  const double scores = 8.0 * 4096 * 4096;
  w.bytesRead += Bytes(static_cast<std::int64_t>(2 * 2 * scores));
  w.bytesWritten += Bytes(static_cast<std::int64_t>(2 * 2 * scores));
  const ComputeCost cost =
      RooflineCostModel(c, unfused).compute(InstructionKind::Attention, w);
  CHECK(cost.bound == Bound::Memory);
  CHECK(seconds(cost) ==
        Approx((w.bytesRead + w.bytesWritten).toDouble() / 100e9));
  CHECK(cost.memoryShare == kWhole);
}

TEST_CASE("the slowest of many sets the pace of arithmetic") {
  hardware::Cluster c = testCluster();
  c.accelerator.constants.spread = 0.02;
  const Work w = product(5120, 5120, 5120);
  const auto of = [&](std::int64_t n) {
    Options options;
    options.accelerators = n;
    return RooflineCostModel(c, options).compute(InstructionKind::MatMul, w);
  };
  CHECK(of(1).straggle.value == 0);
  const double alone = seconds(of(1));
  // The expected largest of 8192 normal values is 3.7 to 3.8 deviations out.
  CHECK(toSeconds(of(8192).straggle) / alone ==
        Approx(0.02 * 3.73).epsilon(0.02));
  CHECK(of(8192).total == of(1).total + of(8192).straggle);
  CHECK(of(8).straggle < of(64).straggle);
  Options many;
  many.accelerators = 8192;
  CHECK(RooflineCostModel(c, many)
            .compute(InstructionKind::Memory, moved(1'000'000))
            .straggle.value == 0);
}

TEST_CASE("nothing to do takes its launches") {
  hardware::Cluster c = testCluster();
  c.accelerator.constants.launchGap = 2e-6;
  const RooflineCostModel model(c, {});
  Work nothing;
  nothing.kernels = 2;
  for (InstructionKind kind :
       {InstructionKind::MatMul, InstructionKind::Attention,
        InstructionKind::Memory, InstructionKind::Update}) {
    const ComputeCost cost = model.compute(kind, nothing);
    CHECK(cost.total.value == 4'000'000);
    CHECK(cost.total == cost.launch);
  }
}
