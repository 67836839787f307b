#include "runtime/calibrate/Calibration.h"

#include "runtime/calibrate/Search.h"
#include "runtime/cost/CollectiveCost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace planc::calibrate {

namespace {

using program::InstructionKind;

/// Rows of one table that a fit sees.
struct Share {
  const Placed *placed = nullptr;
  std::vector<LogRow> rows;
};

/// Costs of one table's rows on a cluster whose innermost groups are just as
/// large as the table's: a plan may straddle them, a test does not.
class TableCosts {
public:
  TableCosts(const hardware::Cluster &cluster, const Placed &placed)
      : cluster_(cluster), placed_(placed), message_(placed.message) {
    cluster_.levels.front().of = placed.shape.ranks;
    message_.strides = {placed.shape.ranks, 1};
  }

  cost::CollectiveCost of(std::int64_t bytes) {
    message_.bytes = Bytes(bytes);
    return cost::CollectiveCosts(cluster_).cost(placed_.kind, message_);
  }
  double seconds(std::int64_t bytes) { return toSeconds(of(bytes).total); }

private:
  hardware::Cluster cluster_;
  const Placed &placed_;
  program::Message message_;
};

/// Weighted mean of 1 - min(p/m, m/p): twice as long and half as long are as
/// bad, and a row that nothing fits does not drown the others.
double badness(const hardware::Cluster &cluster,
               std::span<const Share> shares) {
  constexpr double kSmallWeight = 0.25;
  double sum = 0, weights = 0;
  for (const Share &share : shares) {
    TableCosts costs(cluster, *share.placed);
    for (const LogRow &row : share.rows) {
      const double weight = row.bytes >= kLargeMessage ? 1 : kSmallWeight;
      const double predicted = costs.seconds(row.bytes);
      sum += weight *
             (1 - std::min(predicted / row.seconds, row.seconds / predicted));
      weights += weight;
    }
  }
  return weights > 0 ? sum / weights : 0;
}

/// What the tables of a level can tell.
struct Evidence {
  std::int64_t smallest = 0, large = 0; ///< bytes; rows of 1 MiB and up
};

Evidence evidenceOf(std::span<const Share> shares) {
  Evidence out;
  for (const Share &share : shares)
    for (const LogRow &row : share.rows) {
      if (out.smallest == 0 || row.bytes < out.smallest)
        out.smallest = row.bytes;
      out.large += row.bytes >= kLargeMessage ? 1 : 0;
    }
  return out;
}

/// A latency wants small messages, a ramp several sizes of large ones.
std::vector<Knob> told(std::vector<Knob> knobs, const Evidence &evidence) {
  constexpr std::int64_t kSmall = 64 << 10;
  std::erase_if(knobs, [&](const Knob &knob) {
    const bool isRamp = knob.name.ends_with("ramp");
    const bool isHalf = knob.name.ends_with("half");
    if (knob.constant == nullptr)
      return evidence.smallest > kSmall;
    return (isRamp && evidence.large < 4) || (isHalf && evidence.large < 3);
  });
  return knobs;
}

KnobSet setOf(const hardware::Cluster &cluster, const Placed &placed) {
  if (placed.kind == InstructionKind::CollectivePermute)
    return KnobSet::Transfer;
  const bool inSwitch = placed.kind == InstructionKind::AllReduce &&
                        placed.level == 0 &&
                        cluster.levels[0].inNetworkReduction;
  return inSwitch ? KnobSet::Switch : KnobSet::Ring;
}

/// Knobs of `set` that do not begin at what another constant stands in for.
void settleDefaults(hardware::Level &level, KnobSet set) {
  hardware::LevelConstants &c = level.constants;
  if (set == KnobSet::Transfer && c.transferEfficiency <= 0)
    c.transferEfficiency = c.efficiency;
  if (set != KnobSet::Switch)
    return;
  if (c.reductionEfficiency <= 0)
    c.reductionEfficiency = c.efficiency;
  if (c.reductionHalf <= 0)
    c.reductionHalf = c.messageHalf;
  if (c.reductionRamp <= 0)
    c.reductionRamp = c.messageRamp;
}

class Fitter {
public:
  explicit Fitter(const hardware::Cluster &base)
      : base_(base), cluster_(base) {}

  /// Fits every level that `shares` tell of, inside out.
  void fit(std::span<const Share> shares) {
    for (std::size_t level = 0; level < cluster_.levels.size(); ++level)
      for (KnobSet set : {KnobSet::Ring, KnobSet::Switch, KnobSet::Transfer}) {
        std::vector<Share> mine;
        for (const Share &share : shares)
          if (share.placed->level == level &&
              setOf(cluster_, *share.placed) == set && !share.rows.empty())
            mine.push_back(share);
        if (mine.empty())
          continue;
        fitSet(level, set, mine);
        if (set == KnobSet::Ring && isFirst(level) && isUnmeasured(shares))
          fitInside(level, mine);
      }
  }

  const hardware::Cluster &cluster() const { return cluster_; }
  const std::vector<FittedConstant> &constants() const { return constants_; }
  /// What was assumed; mostly empty.
  const std::string &note() const { return note_; }

private:
  /// Nothing but this level, one outside, is fitted yet.
  bool isFirst(std::size_t level) const {
    return level > 0 && std::all_of(constants_.begin(), constants_.end(),
                                    [&](const FittedConstant &constant) {
                                      return constant.level == level;
                                    });
  }

  static bool isUnmeasured(std::span<const Share> shares) {
    return std::none_of(shares.begin(), shares.end(), [](const Share &share) {
      return share.placed->level == 0 && !share.rows.empty();
    });
  }

  /// The innermost level has no table of its own, but may be what binds those
  /// of `level`: it is fitted to them as well, and `level` again, where that
  /// makes them fit a tenth better.
  void fitInside(std::size_t level, std::span<const Share> mine) {
    constexpr double kBetter = 0.9;
    const bool sums =
        cluster_.levels[0].inNetworkReduction &&
        std::all_of(mine.begin(), mine.end(), [](const Share &share) {
          return share.placed->kind == InstructionKind::AllReduce;
        });
    const KnobSet set = sums ? KnobSet::Switch : KnobSet::Ring;
    Fitter both(base_);
    for (int round = 0; round < 2; ++round) {
      both.constants_.clear();
      both.fitSet(0, set, mine);
      both.fitSet(level, KnobSet::Ring, mine);
    }
    if (badness(both.cluster_, mine) > kBetter * badness(cluster_, mine))
      return;
    cluster_ = std::move(both.cluster_);
    constants_ = std::move(both.constants_);
    note_ = fmt::format("no log is of level {} alone: it is fitted to those "
                        "that cross {}",
                        cluster_.levels[0].name, cluster_.levels[level].name);
  }

  void fitSet(std::size_t level, KnobSet set, std::span<const Share> mine) {
    std::vector<Knob> knobs = told(knobsOf(set), evidenceOf(mine));
    // What crosses an outer level cannot tell the latencies apart.
    const bool crosses = mine.front().placed->level != level;
    std::erase_if(knobs, [&](const Knob &knob) {
      return crosses && knob.constant == nullptr;
    });
    // One latency: what the ring has told the switch takes over.
    std::erase_if(knobs, [&](const Knob &knob) {
      return std::any_of(constants_.begin(), constants_.end(),
                         [&](const FittedConstant &c) {
                           return c.level == level && c.knob.name == knob.name;
                         });
    });
    hardware::Level &at = cluster_.levels[level];
    settleDefaults(at, set);
    hardware::Level was = base_.levels[level];
    settleDefaults(was, set);
    const auto judge = [&](const std::vector<int> &indices) {
      hardware::Cluster trial = cluster_;
      for (std::size_t k = 0; k < knobs.size(); ++k)
        knobs[k].write(trial.levels[level], knobs[k].valueAt(indices[k]));
      return badness(trial, mine);
    };
    const std::vector<int> best = search(knobs, startsOf(knobs, at), judge);
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      knobs[k].write(at, knobs[k].valueAt(best[k]));
      constants_.push_back({level, knobs[k], knobs[k].read(was),
                            knobs[k].valueAt(best[k]),
                            isTold(knobs[k], best[k], best, k, judge)});
    }
  }

  /// The cluster as it is, and two places far from it.
  static std::vector<std::vector<int>> startsOf(const std::vector<Knob> &knobs,
                                                const hardware::Level &level) {
    std::vector<std::vector<int>> starts(3);
    for (const Knob &knob : knobs) {
      starts[0].push_back(knob.indexOf(knob.read(level)));
      const bool isShare = knob.grid == Grid::Share;
      starts[1].push_back(isShare ? knob.indexOf(0.9) : knob.last() / 2);
      starts[2].push_back(isShare ? knob.indexOf(0.5) : 0);
    }
    return starts;
  }

  template <class Judge>
  static bool isTold(const Knob &knob, int index, std::vector<int> best,
                     std::size_t k, const Judge &judge) {
    // A hundredth of a percent of mean error is nothing.
    constexpr double kNothing = 1e-4;
    const double value = knob.valueAt(index), least = judge(best);
    for (double factor : {0.5, 2.0}) {
      best[k] = value > 0 ? knob.indexOf(value * factor) : knob.last() / 2;
      if (best[k] != index && judge(best) > least + kNothing)
        return true;
    }
    return false;
  }

  const hardware::Cluster &base_;
  hardware::Cluster cluster_;
  std::vector<FittedConstant> constants_;
  std::string note_;
};

Misfit misfitOf(const hardware::Cluster &cluster, const Share &share) {
  Misfit out;
  TableCosts costs(cluster, *share.placed);
  for (const LogRow &row : share.rows) {
    if (row.bytes < kLargeMessage)
      continue;
    const double off = std::abs(costs.seconds(row.bytes) / row.seconds - 1);
    out.mean += off;
    out.worst = std::max(out.worst, off);
    ++out.rows;
  }
  out.mean /= static_cast<double>(std::max<std::int64_t>(1, out.rows));
  return out;
}

/// Rows at even and odd places.
Share everySecond(const Share &share, std::size_t from) {
  Share out{share.placed, {}};
  for (std::size_t i = from; i < share.rows.size(); i += 2)
    out.rows.push_back(share.rows[i]);
  return out;
}

Misfit together(const Misfit &a, const Misfit &b) {
  const double n =
      static_cast<double>(std::max<std::int64_t>(1, a.rows + b.rows));
  return {(a.mean * static_cast<double>(a.rows) +
           b.mean * static_cast<double>(b.rows)) /
              n,
          std::max(a.worst, b.worst), a.rows + b.rows};
}

/// Tests up to which each is left out in turn, a fit for each.
constexpr std::size_t kMostHeldOut = 8;

/// How well table `i` is predicted by a fit that did not see it.
void holdOut(const hardware::Cluster &base, std::span<const Share> shares,
             std::size_t i, FittedTable &table) {
  const auto fitted = [&](std::vector<Share> seen) {
    Fitter fitter(base);
    fitter.fit(seen);
    return fitter.cluster();
  };
  std::vector<Share> others;
  bool isOfLevel = false;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    if (k == i)
      continue;
    others.push_back(shares[k]);
    isOfLevel =
        isOfLevel ||
        (shares[k].placed->level == shares[i].placed->level &&
         setOf(base, *shares[k].placed) == setOf(base, *shares[i].placed));
  }
  if (isOfLevel) {
    table.heldOut = misfitOf(fitted(others), shares[i]);
    table.left = FittedTable::Left::Table;
    return;
  }
  constexpr std::size_t kEnough = 6;
  if (shares[i].rows.size() < kEnough)
    return;
  table.left = FittedTable::Left::EverySecondSize;
  for (std::size_t from : {0u, 1u}) {
    std::vector<Share> seen = others;
    seen.push_back(everySecond(shares[i], 1 - from));
    table.heldOut = together(
        table.heldOut, misfitOf(fitted(seen), everySecond(shares[i], from)));
  }
}

/// Bus bandwidth of a ring that fills the links, bytes a second: of a level's
/// own link inside, of all adapters of a group outside.
double ringLimit(const hardware::Cluster &cluster, const Placed &placed) {
  const double link = cluster.levels[placed.level].link.toDouble();
  return placed.level == 0 ? link
                           : link * static_cast<double>(placed.shape.ranks);
}

void noteFasterThanRings(const Placed &placed, Calibration &out) {
  const hardware::Level &level = out.cluster.levels[placed.level];
  double bus = 0;
  for (const LogRow &row : placed.table.rows)
    bus =
        std::max(bus, static_cast<double>(row.bytes) / row.seconds *
                          busFactor(placed.table.test,
                                    placed.shape.groups * placed.shape.ranks));
  const double limit = ringLimit(out.cluster, placed);
  if (bus <= limit)
    return;
  const bool isTree = placed.kind == InstructionKind::AllReduce &&
                      placed.shape.groups == 2 &&
                      out.cluster.levels[0].inNetworkReduction;
  const std::string why =
      placed.kind != InstructionKind::AllReduce
          ? "the link is faster than the cluster says"
      : isTree ? "between two groups a tree sends every byte once"
      : level.inNetworkReduction
          ? "the switches of this level sum, as the cluster says"
          : "switches sum (SHARP), or the link is faster than the cluster "
            "says; `in_network_reduction true` claims the first";
  out.notes.push_back(fmt::format(
      "{}: {:.0f} GB/s of bus bandwidth, above the {:.0f} GB/s of rings over "
      "{}'s links: {}",
      placed.table.log, bus / 1e9, limit / 1e9, level.name, why));
}

} // namespace

Calibration fitCluster(const hardware::Cluster &base,
                       std::span<const Placed> tables) {
  Calibration out;
  out.base = base.name;
  hardware::Cluster wide = base;
  std::vector<Share> shares;
  for (const Placed &placed : tables) {
    widen(wide, placed);
    shares.push_back({&placed, placed.table.rows});
  }
  Fitter fitter(wide);
  fitter.fit(shares);
  out.cluster = fitter.cluster();
  out.constants = fitter.constants();
  if (!fitter.note().empty())
    out.notes.push_back(fitter.note());
  if (shares.size() > kMostHeldOut)
    out.notes.push_back(fmt::format(
        "of more than {} tests none is left out in turn", kMostHeldOut));
  const std::string *first = nullptr;
  for (const Placed &placed : tables) {
    const std::string &device = placed.table.device;
    if (device.empty())
      continue;
    if (first == nullptr)
      first = &device;
    if (device == *first)
      continue;
    out.notes.push_back(fmt::format(
        "logs of different devices ({}, {}) are fitted as one cluster", *first,
        device));
    break;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    FittedTable table;
    table.placed = tables[i];
    TableCosts now(out.cluster, tables[i]), before(wide, tables[i]);
    for (const LogRow &row : shares[i].rows) {
      const cost::CollectiveCost cost = now.of(row.bytes);
      table.rows.push_back({row.bytes, row.seconds, toSeconds(cost.total),
                            before.seconds(row.bytes), cost.algorithm});
    }
    table.fitted = misfitOf(out.cluster, shares[i]);
    table.before = misfitOf(wide, shares[i]);
    if (shares.size() <= kMostHeldOut)
      holdOut(wide, shares, i, table);
    if (table.fitted.mean > table.before.mean)
      out.notes.push_back(fmt::format(
          "{}: fits worse than before, since other logs of the same links say "
          "something else; fit it without them",
          tables[i].table.log));
    out.tables.push_back(std::move(table));
    if (!tables[i].note.empty())
      out.notes.push_back(tables[i].table.log + ": " + tables[i].note);
    noteFasterThanRings(tables[i], out);
  }
  for (const FittedConstant &constant : out.constants)
    if (!constant.isTold)
      out.notes.push_back(fmt::format(
          "{} of level {} is not told by these logs: twice or half of it fits "
          "as well",
          constant.knob.name, out.cluster.levels[constant.level].name));
  return out;
}

} // namespace planc::calibrate
