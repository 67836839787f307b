#include "runtime/sim/IssueOrder.h"

#include "runtime/program/Liveness.h"
#include "runtime/sched/Algorithms.h"
#include "runtime/timeline/Queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace planc::sim {

using program::Piece;
using program::PieceId;
using program::RankClassId;
using program::RankProgram;
using sched::Buckets;
using timeline::Bucket;

namespace {

using Pieces = Table<PieceId, Piece>;

bool mayMerge(const Pieces &pieces, PieceId a, PieceId b) {
  for (; a.isValid() && b.isValid(); a = pieces[a].then, b = pieces[b].then) {
    const program::Message &one = pieces[a].message, &two = pieces[b].message;
    if (pieces[a].collective != pieces[b].collective ||
        one.sizes != two.sizes || one.strides != two.strides ||
        one.kind != two.kind)
      return false;
  }
  return a.isValid() == b.isValid();
}

/// Pieces that may share buckets, in their order; followers left out.
std::vector<std::vector<PieceId>> groupsOf(const Pieces &pieces) {
  std::vector<char> follows(pieces.size());
  for (const Piece &piece : pieces)
    if (piece.then.isValid())
      follows[piece.then.index()] = 1;
  std::vector<std::vector<PieceId>> groups;
  for (PieceId id : pieces.ids()) {
    if (follows[id.index()])
      continue;
    auto same = [&](const std::vector<PieceId> &group) {
      return mayMerge(pieces, group.front(), id);
    };
    auto at = std::find_if(groups.begin(), groups.end(), same);
    if (at == groups.end())
      at = groups.emplace(groups.end());
    at->push_back(id);
  }
  return groups;
}

Bytes bytesOf(const Pieces &pieces, const std::vector<PieceId> &ids) {
  std::int64_t bytes = 0;
  for (PieceId id : ids)
    if (__builtin_add_overflow(bytes, pieces[id].message.bytes.value, &bytes))
      bytes = std::numeric_limits<std::int64_t>::max();
  return Bytes(bytes);
}

/// Buckets of every group, in order of their last pieces; each chain right
/// behind its first bucket.
std::vector<Bucket> assemble(const Pieces &pieces,
                             const std::vector<std::vector<PieceId>> &groups,
                             const std::vector<Buckets> &ends) {
  std::vector<std::vector<PieceId>> heads;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t begin = 0;
    for (std::size_t end : ends[g]) {
      heads.emplace_back(groups[g].begin() + static_cast<std::ptrdiff_t>(begin),
                         groups[g].begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
  }
  std::sort(heads.begin(), heads.end(),
            [](const auto &a, const auto &b) { return a.back() < b.back(); });
  std::vector<Bucket> out;
  for (std::vector<PieceId> &ids : heads) {
    std::uint32_t after = Bucket::kNone;
    while (!ids.empty()) {
      std::vector<PieceId> next;
      for (PieceId id : ids)
        if (pieces[id].then.isValid())
          next.push_back(pieces[id].then);
      Bytes bytes = bytesOf(pieces, ids);
      out.push_back({std::move(ids), bytes, after});
      after = static_cast<std::uint32_t>(out.size() - 1);
      ids = std::move(next);
    }
  }
  return out;
}

/// Boundaries of one group.
using Cut = std::function<Buckets(const RankProgram &, const Pieces &,
                                  const std::vector<PieceId> &)>;

std::vector<Bucket> cutAll(const RankProgram &rankClass, const Pieces &pieces,
                           const Cut &cut) {
  std::vector<std::vector<PieceId>> groups = groupsOf(pieces);
  std::vector<Buckets> ends;
  for (const std::vector<PieceId> &group : groups)
    ends.push_back(cut(rankClass, pieces, group));
  return assemble(pieces, groups, ends);
}

IssueOrder cutClasses(const program::ProgramSet &set, Overlap overlap,
                      const Cut &cut) {
  IssueOrder out;
  out.overlap = overlap;
  for (const RankProgram &rankClass : set.classes)
    out.classes.add({cutAll(rankClass, rankClass.reduces, cut),
                     cutAll(rankClass, rankClass.gathers, cut)});
  return out;
}

std::vector<sched::Item> itemsOf(const Pieces &pieces,
                                 const std::vector<PieceId> &group) {
  std::vector<sched::Item> items;
  for (PieceId id : group)
    items.push_back({Duration(0), pieces[id].message.bytes});
  return items;
}

Buckets cutByPolicy(const BucketPolicy &policy, const Pieces &pieces,
                    const std::vector<PieceId> &group) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  std::vector<sched::Item> items = itemsOf(pieces, group);
  const Piece &first = pieces[group.front()];
  bool reduce = first.kind == Piece::Kind::Reduce;
  switch (policy.kind) {
  case BucketPolicy::Kind::Size:
    return sched::bucketsFixed(items, policy.size, policy.size);
  case BucketPolicy::Kind::Ddp:
    return sched::bucketsFixed(items, Bytes(25 * kMebibyte), Bytes(kMebibyte));
  case BucketPolicy::Kind::One:
    return sched::bucketsOne(items);
  case BucketPolicy::Kind::Megatron:
    return sched::bucketsMegatron(items, first.message.members(),
                                  reduce ? policy.gradientBytes
                                         : policy.parameterBytes);
  case BucketPolicy::Kind::Layer: {
    std::vector<std::int32_t> layers;
    for (PieceId id : group)
      layers.push_back(pieces[id].layer);
    return sched::bucketsByGroup(layers);
  }
  }
  return {};
}

} // namespace

IssueOrder programIssue(const program::ProgramSet &set) {
  BucketPolicy one;
  one.kind = BucketPolicy::Kind::One;
  return cutClasses(set, Overlap::None,
                    [&](const RankProgram &, const Pieces &pieces,
                        const std::vector<PieceId> &group) {
                      return cutByPolicy(one, pieces, group);
                    });
}

IssueOrder frameworkIssue(const program::ProgramSet &set, BucketPolicy policy) {
  return cutClasses(set, Overlap::Allowed,
                    [&](const RankProgram &, const Pieces &pieces,
                        const std::vector<PieceId> &group) {
                      return cutByPolicy(policy, pieces, group);
                    });
}

namespace {

/// When pieces of one class became ready or were used, in the last step of a
/// timeline.
class PieceTimes {
public:
  PieceTimes(const timeline::Timeline &seen, RankClassId rankClass)
      : seen_(seen) {
    auto last = static_cast<std::int32_t>(seen.steps.size()) - 1;
    for (const timeline::Run &run : seen.classes[rankClass].runs)
      if (run.step == last) {
        if (runs_.size() <= run.task.index())
          runs_.resize(run.task.index() + 1);
        runs_[run.task.index()] = &run;
      }
  }

  Duration ready(const Piece &piece) const {
    const timeline::Run &run = *runs_[piece.task.index()];
    timeline::RunInstructions inside = instructionsOf(seen_, run);
    if (piece.instruction >= inside.times.size())
      return run.end;
    return inside.origin + inside.times[piece.instruction].end;
  }

  Duration firstUse(const Piece &piece) const {
    Duration first(std::numeric_limits<std::int64_t>::max() / 2);
    for (const Piece::Use &use : piece.uses) {
      timeline::RunInstructions inside =
          instructionsOf(seen_, *runs_[use.task.index()]);
      first =
          std::min(first, inside.origin + inside.times[use.instruction].begin);
    }
    return first;
  }

private:
  const timeline::Timeline &seen_;
  std::vector<const timeline::Run *> runs_; ///< by task
};

sched::LinkCost lineThrough(const Costs &costs, const RankProgram &rankClass,
                            const Piece &piece, Bytes most) {
  Bytes least(most.value / 16);
  Duration low = costs.bucket(rankClass, piece, least).duration;
  Duration high = costs.bucket(rankClass, piece, most).duration;
  sched::LinkCost out;
  if (most > least && high > low)
    out.psPerGibibyte = static_cast<std::int64_t>(
        (Int128((high - low).value) << 30) / (most - least).value);
  Duration flow = sched::LinkCost{Duration(0), out.psPerGibibyte}.of(least);
  out.latency = std::max(Duration(0), low - flow);
  return out;
}

Buckets cutReduces(const PieceTimes &times, const Pieces &pieces,
                   const std::vector<PieceId> &group,
                   const sched::LinkCost &cost) {
  std::vector<sched::Item> items = itemsOf(pieces, group);
  Duration latest(0);
  for (std::size_t i = 0; i < group.size(); ++i)
    latest = items[i].ready = std::max(latest, times.ready(pieces[group[i]]));
  return sched::bucketsOptimal(items, cost);
}

/// Time reversed: a bucket that must be there before its first use is one that
/// may not start before its last release.
Buckets cutGathers(const PieceTimes &times, const Pieces &pieces,
                   const std::vector<PieceId> &group,
                   const sched::LinkCost &cost) {
  std::vector<sched::Item> items = itemsOf(pieces, group);
  Duration horizon(std::numeric_limits<std::int64_t>::max() / 2);
  Duration earliest = horizon;
  for (std::size_t i = group.size(); i-- > 0;) {
    earliest = std::min(earliest, times.firstUse(pieces[group[i]]));
    items[i].ready = earliest;
  }
  Duration last = items.back().ready;
  for (sched::Item &item : items)
    item.ready = last - item.ready;
  std::reverse(items.begin(), items.end());
  Buckets reversed = sched::bucketsOptimal(items, cost);
  Buckets out;
  for (std::size_t b = reversed.size(); b-- > 0;)
    out.push_back(items.size() - (b > 0 ? reversed[b - 1] : 0));
  return out;
}

} // namespace

IssueOrder chosenIssue(const program::ProgramSet &set, const Costs &costs,
                       const timeline::Timeline &seen) {
  IssueOrder out;
  for (RankClassId id : set.classes.ids()) {
    PieceTimes times(seen, id);
    auto cut = [&](const RankProgram &rankClass, const Pieces &pieces,
                   const std::vector<PieceId> &group) {
      const Piece &first = pieces[group.front()];
      sched::LinkCost cost =
          lineThrough(costs, rankClass, first, bytesOf(pieces, group));
      return first.kind == Piece::Kind::Reduce
                 ? cutReduces(times, pieces, group, cost)
                 : cutGathers(times, pieces, group, cost);
    };
    const RankProgram &rankClass = set.classes[id];
    out.classes.add({cutAll(rankClass, rankClass.reduces, cut),
                     cutAll(rankClass, rankClass.gathers, cut)});
  }
  return out;
}

namespace {

void verifyBuckets(const std::vector<Bucket> &buckets, const Pieces &pieces,
                   const std::string &where, std::vector<std::string> &broken) {
  std::vector<int> seen(pieces.size());
  auto say = [&](int rule, std::size_t bucket, std::string_view what) {
    broken.push_back(
        fmt::format("I{} {} bucket {}: {}", rule, where, bucket, what));
  };
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const Bucket &bucket = buckets[b];
    if (bucket.pieces.empty())
      say(1, b, "is empty");
    for (PieceId id : bucket.pieces) {
      if (!pieces.contains(id)) {
        say(1, b, "holds a piece that does not exist");
        return;
      }
      if (++seen[id.index()] > 1)
        say(1, b, "holds a piece that another holds");
      if (!mayMerge(pieces, bucket.pieces.front(), id))
        say(2, b, "merges pieces that differ");
    }
    if (bucket.bytes != bytesOf(pieces, bucket.pieces))
      say(2, b, "has other bytes than its pieces");
    if (bucket.after != Bucket::kNone && bucket.after >= b)
      say(3, b, "follows no earlier bucket");
  }
  for (PieceId id : pieces.ids())
    if (seen[id.index()] == 0)
      broken.push_back(
          fmt::format("I1 {} piece {}: is in no bucket", where, id.index()));
}

/// Each instruction once, after what it depends on.
bool isOrderOf(const std::vector<std::uint32_t> &order,
               const program::Block &block) {
  const std::size_t count = block.instructions.size();
  std::vector<char> done(count);
  for (std::uint32_t i : order) {
    if (i >= count || done[i])
      return false;
    for (std::uint32_t dep : block.instructions[i].deps)
      if (!done[dep])
        return false;
    done[i] = 1;
  }
  return order.size() == count;
}

void verifyForms(const IssueOrder &order, const program::ProgramSet &set,
                 RankClassId id, std::vector<std::string> &broken) {
  const RankProgram &rankClass = set.classes[id];
  for (const FormUse &use : order.classes[id].forms)
    if (!rankClass.tasks.contains(use.task) ||
        use.order >= order.orders.size() ||
        rankClass.tasks[use.task].kind != program::TaskKind::Run ||
        rankClass.tasks[use.task].block != order.orders[use.order].block)
      broken.push_back(
          fmt::format("I5 class `{}`: task {} is no run of the block of order "
                      "{}",
                      rankClass.name, use.task.index(), use.order));
}

} // namespace

std::vector<std::string> verify(const IssueOrder &order,
                                const program::ProgramSet &set) {
  std::vector<std::string> broken;
  if (order.classes.size() != set.classes.size())
    return {"I1: another number of classes than the program"};
  for (std::size_t i = 0; i < order.orders.size(); ++i) {
    const BlockOrder &one = order.orders[i];
    if (!set.blocks.contains(one.block) ||
        !isOrderOf(one.instructions, set.blocks[one.block]))
      broken.push_back(fmt::format("I4 order {}: is none of its block", i));
    else if (const program::Block &block = set.blocks[one.block];
             program::peakOf(block, one.instructions) >
             program::peakOf(block, program::orderAsItStands(block)))
      broken.push_back(fmt::format(
          "I6 order {}: holds more than its block as it stands", i));
  }
  for (RankClassId id : set.classes.ids()) {
    verifyForms(order, set, id, broken);
    const RankProgram &rankClass = set.classes[id];
    std::string name = fmt::format("class `{}`", rankClass.name);
    verifyBuckets(order.classes[id].reduces, rankClass.reduces,
                  name + " reduce", broken);
    verifyBuckets(order.classes[id].gathers, rankClass.gathers,
                  name + " gather", broken);
  }
  return broken;
}

} // namespace planc::sim
