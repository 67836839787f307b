#include "runtime/cost/KernelCost.h"

#include "runtime/cost/MatMulCost.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace planc::cost {

using hardware::AttentionKernel;
using program::InstructionKind;
using program::Work;

namespace {

/// The batched products of unfused attention: those that make scores (over
/// head size) and those that consume them (over positions).
struct ScoreProducts {
  double making, consuming;
};
constexpr ScoreProducts kForward{1, 1};  // q·k, p·v
constexpr ScoreProducts kBackward{1, 3}; // dp; dq, dk, dv

/// The head size at which attention's efficiencies are stated.
constexpr double kHeadSize = 128;

PartsPerMillion millionths(double share) {
  return static_cast<PartsPerMillion>(
      std::ceil(std::min(share, 1.0) * static_cast<double>(kWhole)));
}

double total(const Work &work) {
  return work.bytesRead.toDouble() + work.bytesWritten.toDouble();
}

} // namespace

double KernelCosts::peakOf(Precision precision) const {
  if (std::optional<FlopRate> stated = accelerator_.peak(precision))
    return stated->toDouble();
  const hardware::Peak *wider = nullptr, *lowest = nullptr;
  for (const hardware::Peak &peak : accelerator_.peaks) {
    if (bytesOf(peak.precision) >= bytesOf(precision) &&
        (!wider || bytesOf(peak.precision) < bytesOf(wider->precision)))
      wider = &peak;
    if (!lowest || peak.rate < lowest->rate)
      lowest = &peak;
  }
  return (wider ? wider : lowest)->rate.toDouble();
}

double KernelCosts::matmulShare(Precision precision) const {
  const hardware::AcceleratorConstants &c = accelerator_.constants;
  return bytesOf(precision) == 1 && c.matmulEfficiency8 > 0
             ? c.matmulEfficiency8
             : c.matmulEfficiency;
}

/// Of n times that vary, the longest is expected to be this much over the mean
/// (extreme values of a normal distribution).
double KernelCosts::straggleShare() const {
  if (options_.accelerators < 2)
    return 0;
  const double logN = std::log(static_cast<double>(options_.accelerators));
  const double scale = std::sqrt(2 * logN);
  const double deviations =
      scale - (std::log(logN) + std::log(4 * std::numbers::pi)) / (2 * scale);
  return accelerator_.constants.spread * std::max(0.0, deviations);
}

double KernelCosts::streamSeconds(double bytes, std::int32_t kernels) const {
  const hardware::AcceleratorConstants &c = accelerator_.constants;
  if (bytes <= 0)
    return 0;
  return (bytes + c.memoryHalf * std::max(kernels, 1)) /
         (accelerator_.bandwidth.toDouble() * c.memoryEfficiency);
}

double KernelCosts::matmul(const Work &work, InstructionKind kind) const {
  const double peak = peakOf(work.precision);
  const double share = matmulShare(work.precision);
  const MatMulRates rates{peak, share,
                          accelerator_.bandwidth.toDouble() *
                              accelerator_.constants.memoryEfficiency};
  const MatMulShape::Rows rows = kind == InstructionKind::GroupedMatMul
                                     ? MatMulShape::Rows::Differ
                                     : MatMulShape::Rows::Equal;
  const double tiled = matmulSeconds(
      accelerator_,
      {work.batch, work.m, work.n, work.k, rows, bytesOf(work.precision)},
      rates);
  return std::max(tiled, work.flops.toDouble() / (peak * share));
}

AttentionKernel KernelCosts::attentionKernel() const {
  const bool isThere =
      options_.attention && hasKernel(accelerator_, *options_.attention);
  return isThere ? *options_.attention : newestKernel(accelerator_);
}

double KernelCosts::attentionShare(InstructionKind kind) const {
  const hardware::AttentionShares shares =
      attentionShares(accelerator_, attentionKernel());
  return kind == InstructionKind::AttentionGrad ? shares.backward
                                                : shares.forward;
}

double KernelCosts::fusedAttention(InstructionKind kind,
                                   const Work &work) const {
  const double products = kind == InstructionKind::Attention ? 2 : 5;
  const double perKey = products * 2 * static_cast<double>(work.batch) *
                        static_cast<double>(work.m) *
                        static_cast<double>(work.k);
  const double flops = work.flops.toDouble();
  if (flops <= 0)
    return 0;
  const double keys = perKey > 0 ? flops / perKey : 0;
  const hardware::AcceleratorConstants &c = accelerator_.constants;
  const double overKeys = keys > 0 ? keys / (keys + c.attentionHalf) : 1;
  const double head = static_cast<double>(work.k);
  const double overHead = head > 0 ? head / (head + c.attentionHeadHalf) *
                                         (kHeadSize + c.attentionHeadHalf) /
                                         kHeadSize
                                   : 1;
  const double share =
      std::min(1.0, attentionShare(kind) * overKeys * overHead);
  return flops / (peakOf(work.precision) * share);
}

ComputeCost KernelCosts::assemble(const Work &work, double arithmetic,
                                  double memory) const {
  ComputeCost cost;
  const double gap = options_.launch == Options::Launch::Graphs
                         ? 0
                         : accelerator_.constants.launchGap;
  cost.launch =
      durationFromSeconds(gap * std::max(work.kernels, 0)) + work.hostWait;
  const double busy = std::max(arithmetic, memory);
  cost.bound = arithmetic >= memory && arithmetic > 0 ? Bound::Arithmetic
                                                      : Bound::Memory;
  cost.arithmetic =
      work.flops.value > 0
          ? durationFromSeconds(work.flops.toDouble() / peakOf(work.precision))
          : Duration(0);
  if (cost.bound == Bound::Arithmetic)
    cost.straggle = durationFromSeconds(busy * straggleShare());
  const double after = streamSeconds(work.bytesAfter.toDouble(), 1);
  cost.after = durationFromSeconds(after);
  cost.total = std::max(durationFromSeconds(busy), cost.arithmetic) +
               cost.after + cost.launch + cost.straggle;
  if (busy + after > 0)
    cost.memoryShare = millionths((memory + after) / (busy + after));
  return cost;
}

ComputeCost KernelCosts::unfusedAttention(InstructionKind kind,
                                          const Work &work) const {
  const bool forward = kind == InstructionKind::Attention;
  const ScoreProducts products = forward ? kForward : kBackward;
  const double count = products.making + products.consuming;
  const double element = static_cast<double>(bytesOf(work.precision));
  const double scores = element * static_cast<double>(work.batch) *
                        static_cast<double>(work.m) *
                        static_cast<double>(work.n);
  const MatMulRates rates{peakOf(work.precision), matmulShare(work.precision),
                          accelerator_.bandwidth.toDouble() *
                              accelerator_.constants.memoryEfficiency};
  const auto seconds = [&](std::int64_t n, std::int64_t k) {
    return matmulSeconds(accelerator_,
                         {work.batch, work.m, n, k, MatMulShape::Rows::Equal,
                          bytesOf(work.precision)},
                         rates);
  };
  // Rows of q and k are of the head size.
  const double making =
      seconds(work.n, work.k) /
      alignedShare(accelerator_, work.k, bytesOf(work.precision));
  const double consuming = seconds(work.k, work.n);
  // A product moves the scores once and its share of q, k, v and the result;
  // what else the work moves is between the products.
  const double heads = 2 * element * static_cast<double>(work.k) *
                       (static_cast<double>(work.batch * work.m) +
                        static_cast<double>(work.keyHeads * work.n));
  const double own = std::min(total(work) / count,
                              scores + (forward ? heads : 2 * heads) / count);
  const double product = streamSeconds(own, 1);
  const auto others = work.kernels - static_cast<std::int32_t>(count);
  const double between = streamSeconds(total(work) - count * own, others);
  const double busy = products.making * std::max(making, product) +
                      products.consuming * std::max(consuming, product) +
                      between;
  const double arithmetic =
      (making > product ? products.making * making : 0) +
      (consuming > product ? products.consuming * consuming : 0);
  const bool isArithmetic = arithmetic > busy / 2;
  ComputeCost cost =
      assemble(work, isArithmetic ? busy : 0, isArithmetic ? 0 : busy);
  if (busy > 0)
    cost.memoryShare = millionths((count * product + between) / busy);
  return cost;
}

ComputeCost KernelCosts::cost(InstructionKind kind, const Work &work) const {
  switch (kind) {
  case InstructionKind::MatMul:
  case InstructionKind::GroupedMatMul:
    return assemble(work, matmul(work, kind),
                    streamSeconds(total(work), work.kernels));
  case InstructionKind::Attention:
  case InstructionKind::AttentionGrad:
    if (attentionKernel() == AttentionKernel::Unfused)
      return unfusedAttention(kind, work);
    return assemble(work, fusedAttention(kind, work),
                    streamSeconds(total(work), work.kernels));
  case InstructionKind::Memory:
  case InstructionKind::Update:
    return assemble(work, work.flops.toDouble() / peakOf(work.precision),
                    streamSeconds(total(work), work.kernels));
  case InstructionKind::AllReduce:
  case InstructionKind::AllGather:
  case InstructionKind::ReduceScatter:
  case InstructionKind::AllToAll:
  case InstructionKind::Broadcast:
  case InstructionKind::CollectivePermute:
  case InstructionKind::CollectiveStep:
  case InstructionKind::Send:
  case InstructionKind::Recv:
  case InstructionKind::HostOut:
  case InstructionKind::HostIn:
  case InstructionKind::HostUpdate:
    break;
  }
  return {};
}

} // namespace planc::cost
