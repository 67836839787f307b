#include "runtime/cost/CollectiveCost.h"

#include "runtime/cost/CollectiveParts.h"

#include <algorithm>
#include <cmath>

namespace planc::cost {

using hardware::Wiring;
using program::InstructionKind;
using program::Message;

namespace {

/// Share of the link a logarithmic gather or scatter reaches of what a ring
/// does: the weight of PAT in NCCL 2.30's tuning model (src/graph/tuning.cc).
constexpr double kLogarithmicGather = 0.75;

bool isTransfer(InstructionKind kind) {
  return kind == InstructionKind::Send || kind == InstructionKind::Recv;
}

/// Every member sends to one.
bool isPermutation(InstructionKind kind) {
  return kind == InstructionKind::CollectivePermute ||
         kind == InstructionKind::CollectiveStep;
}

/// Bytes a member of n sends for each byte of the message, in a ring.
double ringVolume(InstructionKind kind, double n) {
  return kind == InstructionKind::Broadcast ? 1 : phases(kind) * (n - 1) / n;
}

/// Times a byte crosses the memory of a member for each byte it sends: read to
/// send and written on arrival; a reduction reads its own part too.
double memoryFactor(InstructionKind kind) {
  switch (kind) {
  case InstructionKind::AllReduce:
    return 2.5;
  case InstructionKind::ReduceScatter:
    return 3;
  default:
    return 2;
  }
}

/// Saturates where 64 bits end.
Bytes wholeBytes(double bytes) {
  return Bytes(static_cast<std::int64_t>(std::min(bytes, 9e18)));
}

/// A sum in the switch: how it ramps up, and the share of the link it reaches.
Ramp switchRamp(const hardware::LevelConstants &c) {
  Ramp ramp(c);
  if (c.reductionHalf > 0)
    ramp.half = c.reductionHalf;
  if (c.reductionRamp > 0)
    ramp.root = c.reductionRamp;
  return ramp;
}
double switchEfficiency(const hardware::LevelConstants &c) {
  return c.reductionEfficiency > 0 ? c.reductionEfficiency : c.efficiency;
}

double steps(std::int64_t n) { return std::ceil(std::log2(n)); }

constexpr Algorithm kCandidates[] = {
    Algorithm::Ring,   Algorithm::Tree,          Algorithm::Hierarchical,
    Algorithm::Direct, Algorithm::InNetwork,     Algorithm::PointToPoint,
    Algorithm::Torus,  Algorithm::InNetworkTree,
};

} // namespace

double CollectiveCosts::rate(const Request &r, std::size_t level,
                             double efficiency) const {
  const hardware::Level &l = cluster_.levels[level];
  // In a full mesh of n, a member has n - 1 links, but one to send over to one.
  const bool sendsToOne = isTransfer(r.kind) || isPermutation(r.kind);
  const double links = l.wiring == Wiring::FullMesh && !sendsToOne
                           ? std::max(1.0, r.at(level) - 1)
                           : 1;
  return l.link.toDouble() * efficiency * links / l.oversubscription;
}

double CollectiveCosts::latencySeconds(std::size_t level) const {
  return toSeconds(cluster_.levels[level].latency);
}

void CollectiveCosts::crossing(Traffic &traffic, std::size_t level,
                               double bytes) const {
  traffic.bytes[level] += bytes;
  const std::size_t innermost =
      std::max<std::size_t>(1, cluster_.torusLevels());
  for (std::size_t l = innermost; l < level; ++l)
    traffic.bytes[l] += bytes;
}

/// Rings through all members, one for each link of a group of the level inside:
/// every member sends the whole volume to its neighbour, and a group's links
/// upwards share what leaves it.
CollectiveCosts::Traffic CollectiveCosts::ring(const Request &r) const {
  Traffic t{Algorithm::Ring, std::vector<double>(cluster_.levels.size()), 0, 0,
            0};
  const double volume = r.bytes * ringVolume(r.kind, r.members);
  for (std::size_t l = 0; l <= r.outermost; ++l) {
    if (r.shape.perLevel[l] <= 1)
      continue;
    const hardware::Level &level = cluster_.levels[l];
    const double groups = r.members / r.below(l + 1); // of this level
    t.latency += phases(r.kind) * (r.at(l) - 1) * groups * latencySeconds(l);
    const double shared = volume / r.below(l);
    const double adapter = l == 0 ? volume : volume / r.below(1);
    const Ramp ramp(level.constants);
    const double full = rate(r, l, level.constants.efficiency);
    t.busy = std::max({t.busy, ramp.laden(shared) / full,
                       ramp.laden(adapter) / (full * level.oversubscription)});
    t.bytes[l] = shared;
  }
  t.sent = volume;
  return t;
}

/// All-reduce: two binary trees over the groups, each with half of the data,
/// and inside the innermost chains or sums in its switch. Of two groups each is
/// the root of one tree and the leaf of the other, so that every byte leaves
/// once: measured where switches sum, claimed there only; of more, some have
/// two to send down to. Gather and scatter: distances that double, one member
/// in each innermost group (NCCL's PAT).
CollectiveCosts::Traffic CollectiveCosts::tree(Algorithm which,
                                               const Request &r) const {
  Traffic t{which, std::vector<double>(cluster_.levels.size()), 0, 0, 0};
  const bool inSwitch = which == Algorithm::InNetworkTree;
  const bool reduces = r.kind == InstructionKind::AllReduce;
  if (!reduces && r.below(1) > 1)
    return {};
  const double across = inSwitch && r.members / r.below(1) == 2 ? 1 : 2;
  const double weight = reduces ? 1 : kLogarithmicGather;
  for (std::size_t l = 0; l <= r.outermost; ++l) {
    if (r.shape.perLevel[l] <= 1)
      continue;
    const hardware::LevelConstants &c = cluster_.levels[l].constants;
    const bool sums = inSwitch && l == 0;
    const double chain = l == 0 ? r.at(0) - 1 : steps(r.shape.perLevel[l]);
    const double depth = sums ? 1 : chain;
    t.latency += (reduces ? 2 : 1) * depth * latencySeconds(l);
    // Past the innermost level every hop of a link's share of the tree leaves
    // through the adapter, whatever level it ends in.
    const double reduced =
        l == 0 ? (sums ? (r.at(0) + 1) / r.at(0) : 2) : across / r.below(1);
    const double bytes =
        r.bytes * (reduces ? reduced : (r.members - 1) / r.members);
    const Ramp ramp = sums ? switchRamp(c) : Ramp(c);
    const double share = sums ? switchEfficiency(c) : c.efficiency;
    t.busy = std::max(t.busy, ramp.laden(bytes) / (weight * rate(r, l, share)));
    t.bytes[l] = bytes;
    t.sent = std::max(t.sent, bytes);
  }
  return t;
}

/// Level by level: scattered on the way out, gathered on the way in, so that
/// every member's link carries a part; the phases follow each other.
CollectiveCosts::Traffic CollectiveCosts::hierarchical(const Request &r) const {
  Traffic t{Algorithm::Hierarchical,
            std::vector<double>(cluster_.levels.size()), 0, 0, 0};
  const std::size_t dimensions = cluster_.torusLevels();
  if (dimensions > 0)
    rotate(r, t);
  for (std::size_t l = dimensions; l <= r.outermost; ++l) {
    if (r.shape.perLevel[l] <= 1)
      continue;
    const hardware::LevelConstants &c = cluster_.levels[l].constants;
    const double part = r.bytes / r.below(l);
    const double volume = phases(r.kind) * part * (r.at(l) - 1) / r.at(l);
    double busy = Ramp(c).laden(volume) / rate(r, l, c.efficiency);
    double hops = phases(r.kind) * (r.at(l) - 1);
    double sent = volume;
    // The switch may sum where a level is the outermost of the group.
    if (r.kind == InstructionKind::AllReduce && l == r.outermost &&
        cluster_.levels[l].inNetworkReduction) {
      const double summed = part * (r.at(l) + 1) / r.at(l);
      const double inSwitch =
          switchRamp(c).laden(summed) / rate(r, l, switchEfficiency(c));
      if (inSwitch < busy) {
        busy = inSwitch;
        hops = 2;
        sent = summed;
      }
    }
    t.busy += busy;
    t.latency += hops * latencySeconds(l);
    t.sent += sent;
    crossing(t, l, sent);
  }
  return t;
}

/// Bytes of tokens that each travel once to every node with an expert of theirs
/// and are handed on inside it. The experts of a token lie anywhere: of N nodes
/// it meets N(1 − (1 − 1/N)^copies), unless the router keeps it to fewer.
double CollectiveCosts::onceToEachNode(const Request &r) const {
  const double inside = r.below(1);
  if (r.copies <= 0 || r.nodes <= 0 || inside <= 1 || r.outermost == 0 ||
      cluster_.torusLevels() > 0)
    return r.bytes;
  const double all = r.members / inside;
  const double met = all * (1 - std::pow(1 - 1 / all, r.copies));
  return r.bytes * std::min({met, r.nodes, r.copies}) / r.copies;
}

/// Every member to every other: what leaves a group shares its links. In a
/// torus it goes along one dimension after the other.
CollectiveCosts::Traffic CollectiveCosts::direct(const Request &r) const {
  const double between = onceToEachNode(r);
  const bool handedOn = between < r.bytes;
  Traffic t{Algorithm::Direct, std::vector<double>(cluster_.levels.size()), 0,
            0, 0};
  const std::size_t dimensions = cluster_.torusLevels();
  double walk = 0; // hops inside the torus
  for (std::size_t l = 0; l <= r.outermost; ++l) {
    const hardware::LevelConstants &c = cluster_.levels[l].constants;
    const bool isTorus = l < dimensions;
    const double others = l == 0 ? r.below(1) - 1 : r.members - r.below(l);
    if (others <= 0 || (isTorus && r.at(l) <= 1))
      continue;
    const double leaving =
        l == 0 && handedOn ? r.bytes * others / r.below(1)
                           : (l == 0 ? r.bytes : between) * others / r.members;
    const double inside = r.bytes * r.below(dimensions) / r.members;
    const double bytes =
        isTorus ? inside * lineOf(cluster_, r.shape, l).exchanged() : leaving;
    walk += isTorus
                ? lineOf(cluster_, r.shape, l).farthest() * latencySeconds(l)
                : 0;
    const double inNode = l > 0 && handedOn ? latencySeconds(0) : 0;
    t.latency =
        std::max({t.latency, walk, isTorus ? 0 : latencySeconds(l) + inNode});
    t.busy = std::max(t.busy, Ramp(c).laden(bytes) / rate(r, l, c.efficiency));
    t.bytes[l] = bytes;
    const bool isAdapter = l == std::max<std::size_t>(1, dimensions);
    t.sent += l == 0 || isTorus || isAdapter ? bytes : 0;
  }
  return t;
}

/// Switches sum on every level that the group crosses: each member sends its
/// data once and receives the sum once, besides its own part that it reads back
/// from the switch. Of a group's sum each member takes a share to the next
/// level while the switches work on what follows, so that the slowest level
/// decides.
CollectiveCosts::Traffic CollectiveCosts::inNetwork(const Request &r) const {
  if (r.kind != InstructionKind::AllReduce ||
      r.below(cluster_.torusLevels()) > 1)
    return {};
  Traffic t{Algorithm::InNetwork, std::vector<double>(cluster_.levels.size()),
            0, 0, 0};
  for (std::size_t l = 0; l <= r.outermost; ++l) {
    if (r.shape.perLevel[l] <= 1)
      continue;
    const hardware::Level &level = cluster_.levels[l];
    if (!level.inNetworkReduction)
      return {};
    const hardware::LevelConstants &c = level.constants;
    const double bytes = r.bytes / r.below(l) * (r.at(l) + 1) / r.at(l);
    t.latency += 2 * latencySeconds(l);
    t.busy = std::max(t.busy, switchRamp(c).laden(bytes) /
                                  rate(r, l, switchEfficiency(c)));
    t.sent += bytes;
    t.bytes[l] = bytes; // the switches hand on what goes further out
  }
  return t;
}

/// Every member passes its message on to the next, all at once. One member of
/// each group sends past a level's border, through its own adapter; the others
/// send inside. A step of a collective ramps up as often as the collective has
/// steps: each has that share of `message_half` and `message_ramp`.
CollectiveCosts::Traffic CollectiveCosts::permute(const Request &r) const {
  Traffic t{Algorithm::PointToPoint,
            std::vector<double>(cluster_.levels.size()), 0, 0, 0};
  const double parts =
      r.kind == InstructionKind::CollectiveStep ? r.members - 1 : 1;
  for (std::size_t l = 0; l <= r.outermost; ++l) {
    if (r.shape.perLevel[l] <= 1)
      continue;
    const hardware::LevelConstants &c = cluster_.levels[l].constants;
    const double share =
        c.transferEfficiency > 0 ? c.transferEfficiency : c.efficiency;
    const Ramp ramp = Ramp(c).over(parts);
    // Along a dimension of a torus the neighbours' messages share the links.
    const double hops =
        l < cluster_.torusLevels() ? lineOf(cluster_, r.shape, l).apart : 1;
    t.latency = std::max(t.latency, hops * latencySeconds(l));
    const double adapter = ramp.laden(hops * r.bytes) /
                           (cluster_.levels[l].link.toDouble() * share);
    const double shared =
        ramp.laden(hops * r.bytes / r.below(l)) / rate(r, l, share);
    t.busy = std::max({t.busy, adapter, shared});
    t.bytes[l] = hops * r.bytes / (l == 0 ? 1 : r.below(l));
  }
  t.sent = r.bytes;
  return t;
}

CollectiveCosts::Traffic CollectiveCosts::pointToPoint(const Request &r) const {
  Traffic t{Algorithm::PointToPoint,
            std::vector<double>(cluster_.levels.size()), 0, 0, 0};
  const hardware::LevelConstants &c = cluster_.levels[r.outermost].constants;
  const double share =
      c.transferEfficiency > 0 ? c.transferEfficiency : c.efficiency;
  // Along a dimension of a torus the neighbours' messages share the links.
  const double hops = r.outermost < cluster_.torusLevels()
                          ? lineOf(cluster_, r.shape, r.outermost).apart
                          : 1;
  t.latency = hops * latencySeconds(r.outermost);
  t.busy = Ramp(c).laden(hops * r.bytes) / rate(r, r.outermost, share);
  t.sent = r.bytes;
  crossing(t, r.outermost, hops * r.bytes);
  return t;
}

CollectiveCosts::Traffic CollectiveCosts::trafficOf(Algorithm algorithm,
                                                    const Request &r) const {
  if (isPermutation(r.kind))
    return algorithm == Algorithm::PointToPoint ? permute(r) : Traffic{};
  if (isTransfer(r.kind) != (algorithm == Algorithm::PointToPoint))
    return {};
  const bool exchanges = r.kind == InstructionKind::AllToAll;
  const bool turns = r.below(cluster_.torusLevels()) > 1; // uses the torus
  switch (algorithm) {
  case Algorithm::None:
    return {};
  case Algorithm::Ring:
    return exchanges || turns ? Traffic{} : ring(r);
  case Algorithm::Tree:
    return exchanges || turns ? Traffic{} : tree(algorithm, r);
  case Algorithm::Hierarchical:
    return exchanges || r.below(r.outermost) <= 1 ||
                   r.outermost < cluster_.torusLevels()
               ? Traffic{}
               : hierarchical(r);
  case Algorithm::Direct:
    return exchanges ? direct(r) : Traffic{};
  case Algorithm::InNetwork:
    return inNetwork(r);
  case Algorithm::InNetworkTree:
    // Over several groups whose switches sum.
    return r.kind == InstructionKind::AllReduce && r.outermost > 0 &&
                   r.below(1) > 1 && cluster_.levels[0].inNetworkReduction
               ? tree(algorithm, r)
               : Traffic{};
  case Algorithm::PointToPoint:
    return pointToPoint(r);
  case Algorithm::Torus:
    return exchanges || r.outermost >= cluster_.torusLevels() ? Traffic{}
                                                              : torus(r);
  }
  return {};
}

CollectiveCost CollectiveCosts::assemble(Traffic t, const Request &r) const {
  CollectiveCost cost;
  cost.levels.resize(cluster_.levels.size());
  if (t.algorithm == Algorithm::None)
    return cost;
  const std::size_t adapter = std::max<std::size_t>(1, cluster_.torusLevels());
  for (std::size_t l = r.outermost; l > adapter; --l)
    t.bytes[l - 1] = std::max(t.bytes[l - 1], t.bytes[l]);
  cost.algorithm = t.algorithm;
  const double start = cluster_.accelerator.constants.collectiveStart;
  cost.latency = durationFromSeconds(start + t.latency);
  const double seconds = start + t.latency + t.busy;
  cost.total = durationFromSeconds(seconds);
  const auto share = [&](double busy) {
    const double part = seconds > 0 ? std::min(1.0, busy / seconds) : 0;
    return static_cast<PartsPerMillion>(
        std::ceil(part * static_cast<double>(kWhole)));
  };
  for (std::size_t l = 0; l < cost.levels.size(); ++l) {
    const hardware::LevelConstants &c = cluster_.levels[l].constants;
    cost.levels[l].bytes = wholeBytes(t.bytes[l]);
    cost.levels[l].share = share(t.bytes[l] / rate(r, l, c.efficiency));
    // Steps of a collective are copies, which copy engines make.
    const bool byUnits =
        !isTransfer(r.kind) && r.kind != InstructionKind::CollectiveStep;
    if (cost.levels[l].bytes.value > 0 && byUnits)
      cost.units =
          std::max(cost.units, static_cast<std::int64_t>(c.collectiveUnits));
  }
  // A message between two accelerators reduces nothing and reads and writes its
  // bytes once: what it takes from kernels is left out (docs/cost.md).
  if (isTransfer(r.kind))
    return cost;
  const double touched = t.sent * memoryFactor(r.kind);
  cost.memoryTraffic = wholeBytes(touched);
  cost.memoryShare =
      share(touched / (cluster_.accelerator.bandwidth.toDouble() *
                       cluster_.accelerator.constants.memoryEfficiency));
  return cost;
}

CollectiveCost CollectiveCosts::costWith(Algorithm algorithm,
                                         InstructionKind kind,
                                         const Message &message) const {
  Request r;
  r.kind = kind;
  r.bytes = std::max(0.0, message.bytes.toDouble());
  r.shape = hardware::shapeOf(cluster_, {message.sizes, message.strides});
  r.members = static_cast<double>(r.shape.members());
  r.copies = static_cast<double>(message.copies);
  r.nodes = static_cast<double>(message.nodes);
  const std::optional<std::size_t> outermost = r.shape.outermost();
  if (!outermost)
    return assemble({}, r);
  r.outermost = *outermost;
  return assemble(trafficOf(algorithm, r), r);
}

CollectiveCost CollectiveCosts::cost(InstructionKind kind,
                                     const Message &message) const {
  CollectiveCost best;
  best.levels.resize(cluster_.levels.size());
  for (Algorithm algorithm : kCandidates) {
    CollectiveCost cost = costWith(algorithm, kind, message);
    if (cost.algorithm != Algorithm::None &&
        (best.algorithm == Algorithm::None || cost.total < best.total))
      best = std::move(cost);
  }
  return best;
}

} // namespace planc::cost
