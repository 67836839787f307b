#include "compiler/driver/Evaluate.h"

#include "compiler/driver/Costs.h"
#include "compiler/driver/Simulate.h"
#include "compiler/sema/Units.h"
#include "runtime/report/WaitShares.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace planc::driver {

namespace {

std::int64_t shareOf(std::int64_t value, std::int64_t millionths) {
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max() / 4;
  const Int128 scaled = Int128(value) * millionths / 1'000'000;
  return static_cast<std::int64_t>(std::clamp<Int128>(scaled, 1, kMost));
}

/// Of buckets, that of every piece alone; equal ones in a row are asked once.
bool areSame(const sim::Costs &a, const sim::Costs &b,
             const program::ProgramSet &programs) {
  if (a.instructions != b.instructions || a.tasks != b.tasks)
    return false;
  for (const program::RankProgram &code : programs.classes)
    for (const auto *pieces : {&code.reduces, &code.gathers}) {
      const program::Piece *before = nullptr;
      for (const program::Piece &piece : *pieces) {
        const bool isKnown = before && before->collective == piece.collective &&
                             before->message.bytes == piece.message.bytes &&
                             before->message.sizes == piece.message.sizes &&
                             before->message.strides == piece.message.strides;
        before = &piece;
        if (!isKnown && a.bucket(code, piece, piece.message.bytes) !=
                            b.bucket(code, piece, piece.message.bytes))
          return false;
      }
    }
  return true;
}

} // namespace

std::vector<Resource> resourcesOf(const hardware::Cluster &cluster) {
  using Kind = Resource::Kind;
  std::vector<Resource> out = {{Kind::Arithmetic, 0},
                               {Kind::MemoryBandwidth, 0}};
  for (std::size_t level = 0; level < cluster.levels.size(); ++level) {
    out.push_back({Kind::Bandwidth, level});
    if (cluster.levels[level].latency > Duration(0))
      out.push_back({Kind::Latency, level});
  }
  if (cluster.host.link > ByteRate(0))
    out.push_back({Kind::HostLink, 0});
  return out;
}

std::string nameOf(const hardware::Cluster &cluster, Resource resource) {
  switch (resource.kind) {
  case Resource::Kind::Arithmetic:
    return "arithmetic";
  case Resource::Kind::MemoryBandwidth:
    return "memory bandwidth";
  case Resource::Kind::Bandwidth:
    return "bandwidth of " + cluster.levels[resource.level].name;
  case Resource::Kind::Latency:
    return "latency of " + cluster.levels[resource.level].name;
  case Resource::Kind::HostLink:
    return "bandwidth of the host's link";
  }
  return "";
}

std::string amountOf(const hardware::Cluster &cluster, Resource resource) {
  switch (resource.kind) {
  case Resource::Kind::Arithmetic:
    return sema::formatQuantity(
        cluster.accelerator.peaks.front().rate.toDouble(), sema::kFlopRate);
  case Resource::Kind::MemoryBandwidth:
    return sema::formatQuantity(cluster.accelerator.bandwidth.toDouble(),
                                sema::kByteRate);
  case Resource::Kind::Bandwidth:
    return sema::formatQuantity(cluster.levels[resource.level].link.toDouble(),
                                sema::kByteRate);
  case Resource::Kind::Latency:
    return sema::formatQuantity(
        toSeconds(cluster.levels[resource.level].latency), sema::kSeconds);
  case Resource::Kind::HostLink:
    return sema::formatQuantity(cluster.host.link.toDouble(), sema::kByteRate);
  }
  return "";
}

hardware::Cluster withShare(const hardware::Cluster &cluster, Resource resource,
                            std::int64_t millionths) {
  hardware::Cluster out = cluster;
  const auto scale = [&](auto &quantity) {
    quantity.value = shareOf(quantity.value, millionths);
  };
  switch (resource.kind) {
  case Resource::Kind::Arithmetic:
    for (hardware::Peak &peak : out.accelerator.peaks)
      scale(peak.rate);
    break;
  case Resource::Kind::MemoryBandwidth:
    scale(out.accelerator.bandwidth);
    break;
  case Resource::Kind::Bandwidth:
    scale(out.levels[resource.level].link);
    break;
  case Resource::Kind::Latency:
    scale(out.levels[resource.level].latency);
    break;
  case Resource::Kind::HostLink:
    scale(out.host.link);
    break;
  }
  return out;
}

Result<std::optional<Evaluation>>
Evaluator::on(const hardware::Cluster &cluster) const {
  const program::ProgramSet &programs = *compilation_.programs;
  const cost::RooflineCostModel model(cluster,
                                      costOptionsOf(compilation_.module->plan));
  sim::Costs costs = sim::modelCosts(programs, model);
  if (areSame(costs, compilation_.runs->costs, programs))
    return std::optional<Evaluation>();
  Options alone = options_;
  alone.asides = Options::Asides::Skipped;
  Result<Runs> runs = simulateOrders(compilation_, std::move(costs), alone);
  if (!runs)
    return runs.failure();
  return std::optional(Evaluation{runs->chosen.stepTime,
                                  report::waitsOf(programs, runs->chosen)});
}

Result<std::optional<report::WithoutReduction>>
withoutReduction(const Compilation &compilation, const Options &options) {
  const std::optional<report::WithoutReduction> kNone;
  const program::ProgramSet &programs = *compilation.programs;
  const Runs &runs = *compilation.runs;
  const hardware::Cluster &given = compilation.module->cluster;
  std::vector<std::size_t> summing;
  for (std::size_t level = 0; level < given.levels.size(); ++level)
    if (given.levels[level].inNetworkReduction)
      summing.push_back(level);
  if (summing.empty())
    return kNone;
  const auto without = [&](const std::vector<std::size_t> &levels) {
    hardware::Cluster cluster = given;
    for (std::size_t level : levels)
      cluster.levels[level].inNetworkReduction = false;
    return cost::RooflineCostModel(cluster,
                                   costOptionsOf(compilation.module->plan));
  };
  const cost::RooflineCostModel model = without(summing);
  const sim::Costs costs = sim::modelCosts(programs, model);
  if (areSame(costs, runs.costs, programs))
    return kNone;
  const auto isUsed = [&](std::size_t level) {
    const cost::RooflineCostModel one = without({level});
    return !areSame(sim::modelCosts(programs, one), runs.costs, programs);
  };
  Result<timeline::Timeline> timeline =
      sim::simulate(programs, costs, runs.order, simulationOptions(options));
  if (!timeline)
    return timeline.failure();
  report::WithoutReduction out;
  out.figures = report::figuresOf(programs, *timeline);
  const std::int64_t change = (timeline->stepTime - runs.chosen.stepTime).value;
  if (std::abs(change) < runs.chosen.stepTime.value / 1000)
    return kNone;
  std::vector<std::size_t> used;
  std::copy_if(summing.begin(), summing.end(), std::back_inserter(used),
               isUsed);
  for (std::size_t level : used.empty() ? summing : used) // only together
    out.levels += (out.levels.empty() ? "" : ", ") + given.levels[level].name;
  return std::optional(out);
}

} // namespace planc::driver
