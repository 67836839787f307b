#include "runtime/hardware/Cluster.h"

#include "runtime/base/Checked.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace planc::hardware {

std::optional<FlopRate> Accelerator::peak(Precision precision) const {
  for (const Peak &p : peaks)
    if (p.precision == precision)
      return p.rate;
  return std::nullopt;
}

std::int64_t Cluster::groupSize(std::size_t index) const {
  std::int64_t size = 1;
  for (std::size_t l = 0; l <= index && l < levels.size(); ++l) {
    std::optional<std::int64_t> next = checkedMul(size, levels[l].of);
    if (!next)
      return std::numeric_limits<std::int64_t>::max();
    size = *next;
  }
  return size;
}

std::size_t Cluster::torusLevels() const {
  std::size_t count = 0;
  while (count < levels.size() && levels[count].wiring == Wiring::Torus)
    ++count;
  return count;
}

std::int64_t Cluster::size() const {
  return levels.empty() ? 1 : groupSize(levels.size() - 1);
}

std::int64_t Cluster::perHost() const {
  if (host.accelerators > 0)
    return host.accelerators;
  return levels.empty() ? 1 : levels.front().of;
}

namespace {

/// Collects one line per broken rule.
class Checker {
public:
  void require(bool holds, std::string_view rule, std::string text) {
    if (!holds)
      lines_.push_back(std::string(rule) + ": " + std::move(text));
  }

  void constant(std::string_view name, double value, std::string_view where) {
    const bool isShare = name.find("efficiency") != std::string_view::npos;
    require(value >= 0 && (!isShare || value <= 1), "D7",
            "`" + std::string(name) + "` of " + std::string(where) +
                (isShare ? " is not between 0 and 1" : " is negative"));
  }

  std::vector<std::string> take() { return std::move(lines_); }

private:
  std::vector<std::string> lines_;
};

void checkAccelerator(const Accelerator &a, Checker &check) {
  const std::string where = "accelerator `" + a.name + "`";
  check.require(a.units >= 1, "D4", where + " has no units");
  check.require(a.memory.value > 0, "D5", where + " has no memory");
  check.require(a.bandwidth.value > 0, "D5", where + " has no bandwidth");
  check.require(!a.peaks.empty(), "D6", where + " states no peak");
  for (std::size_t i = 0; i < a.peaks.size(); ++i) {
    const std::string name(toString(a.peaks[i].precision));
    check.require(a.peaks[i].rate.value > 0, "D6",
                  where + ": the peak of " + name + " is not positive");
    for (std::size_t j = 0; j < i; ++j)
      check.require(a.peaks[j].precision != a.peaks[i].precision, "D6",
                    where + " states two peaks of " + name);
  }
#define PLANC_ACCELERATOR_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                \
  check.constant(NAME, a.constants.MEMBER, where);
#include "runtime/hardware/Constants.def"
  const AcceleratorConstants &c = a.constants;
  check.require(c.matmulEfficiency > 0 && c.memoryEfficiency > 0, "D7",
                where + ": matrix products or memory reach nothing");
  check.require(c.tileRows >= 1 && c.tileColumns >= 1, "D7",
                where + ": a tile is empty");
}

void checkLevel(const Level &level, Checker &check) {
  const std::string where = "level `" + level.name + "`";
  check.require(level.of >= 1, "D2", where + " has no members");
  check.require(level.link.value > 0, "D8", where + " has no link");
  check.require(level.latency.value >= 0, "D8", where + ": negative latency");
  check.require(level.oversubscription >= 1, "D8",
                where + ": oversubscription is less than 1");
#define PLANC_LEVEL_CONSTANT(MEMBER, NAME, DEFAULT, HELP)                      \
  check.constant(NAME, level.constants.MEMBER, where);
#include "runtime/hardware/Constants.def"
  check.require(level.constants.efficiency > 0, "D7",
                where + ": collectives reach nothing of the link");
}

} // namespace

std::vector<std::string> verify(const Cluster &cluster) {
  Checker check;
  check.require(!cluster.levels.empty(), "D1",
                "cluster `" + cluster.name + "` has no level");
  for (const Level &level : cluster.levels)
    checkLevel(level, check);
  check.require(cluster.size() < std::numeric_limits<std::int64_t>::max(), "D3",
                "cluster `" + cluster.name + "` has more than 2^63 members");
  checkAccelerator(cluster.accelerator, check);
  for (std::size_t l = 0; l < cluster.levels.size(); ++l) {
    const Level &level = cluster.levels[l];
    check.require(level.wiring != Wiring::Torus || l < cluster.torusLevels(),
                  "D10", "level `" + level.name + "`: a torus round a switch");
    check.require(level.wiring != Wiring::FullMesh || l == 0, "D10",
                  "level `" + level.name + "`: a full mesh of groups");
  }
  check.require(cluster.reserve.value >= 0 &&
                    cluster.reserve <= cluster.accelerator.memory,
                "D9", "`reserve` is more than an accelerator's memory");
  const Host &host = cluster.host;
  check.require(host.memory.value >= 0 && host.latency.value >= 0 &&
                    host.accelerators >= 0,
                "D11", "the host has negative parts");
  check.require(host.memory.value == 0 ||
                    (host.bandwidth.value > 0 && host.link.value > 0),
                "D11", "the host's memory has no bandwidth or no link");
  return check.take();
}

} // namespace planc::hardware
