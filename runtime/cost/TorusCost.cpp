// Collectives on a torus (docs/cost.md C11): a bidirectional ring in each
// dimension, all of them at once on parts of the data that take the dimensions
// in turn (Chan et al., Collective communication: theory, practice, and
// experience, 2007; for TPUs: Austin et al., How to Scale Your Model, 2025,
// part 3).
#include "runtime/cost/CollectiveParts.h"

#include <algorithm>
#include <cmath>

namespace planc::cost {

TorusLine lineOf(const hardware::Cluster &cluster,
                 const hardware::GroupShape &shape, std::size_t level) {
  TorusLine line;
  line.members = static_cast<double>(shape.perLevel[level]);
  line.apart = static_cast<double>(shape.apart[level]);
  const double of = static_cast<double>(cluster.levels[level].of);
  line.links = of > 2 && line.members * line.apart >= of ? 2 : 1;
  return line;
}

double TorusLine::farthest() const {
  return apart * (isClosed() ? std::floor(members / 2) : members - 1);
}

double TorusLine::exchanged() const {
  // Closed: each of n bytes goes n/4 links on average, half of them each way.
  // Open: what passes the middle.
  const double squares = std::floor(members / 2) * std::ceil(members / 2);
  return apart * squares / members / (isClosed() ? 2 : 1);
}

void CollectiveCosts::rotate(const Request &r, Traffic &t) const {
  std::vector<std::size_t> dimensions;
  for (std::size_t l = 0; l < cluster_.torusLevels(); ++l)
    if (r.shape.perLevel[l] > 1)
      dimensions.push_back(l);
  const std::size_t count = dimensions.size();
  const bool copies = r.kind == program::InstructionKind::Broadcast;
  // left[p]: of part p, what a member still has; all of it where it is copied.
  std::vector<double> left(
      count, r.bytes / static_cast<double>(std::max<std::size_t>(count, 1)));
  const double twice = phases(r.kind);
  for (std::size_t turn = 0; turn < count; ++turn) {
    double busy = 0, latency = 0;
    for (std::size_t part = 0; part < count; ++part) {
      const std::size_t l = dimensions[(part + turn) % count];
      const TorusLine line = lineOf(cluster_, r.shape, l);
      const hardware::LevelConstants &c = cluster_.levels[l].constants;
      const double moved =
          copies ? left[part] : left[part] * (line.members - 1) / line.members;
      const double bytes = twice * moved * line.apart / line.links;
      busy = std::max(busy, Ramp(c).laden(bytes) / rate(r, l, c.efficiency));
      latency = std::max(latency, twice * line.farthest() * latencySeconds(l));
      t.bytes[l] += bytes;
      t.sent += twice * moved;
      left[part] /= copies ? 1 : line.members;
    }
    t.busy += busy;
    t.latency += latency;
  }
}

CollectiveCosts::Traffic CollectiveCosts::torus(const Request &r) const {
  Traffic t{Algorithm::Torus, std::vector<double>(cluster_.levels.size()), 0, 0,
            0};
  rotate(r, t);
  return t;
}

} // namespace planc::cost
