#include "runtime/sim/IssueOrder.h"

#include "runtime/program/Liveness.h"
#include "runtime/sim/PieceGroups.h"

#include <fmt/format.h>

#include <algorithm>

namespace planc::sim {

using program::Piece;
using program::PieceId;
using program::RankClassId;
using program::RankProgram;
using sched::Buckets;
using timeline::Bucket;

namespace {

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

IssueOrder cutClasses(const program::ProgramSet &set, Overlap overlap,
                      const BucketPolicy &policy) {
  IssueOrder out;
  out.overlap = overlap;
  for (const RankProgram &rankClass : set.classes) {
    const auto cut = [&](const Pieces &pieces) {
      return cutAll(pieces, {}, [&](const std::vector<PieceId> &group) {
        return cutByPolicy(policy, pieces, group);
      });
    };
    out.classes.add({cut(rankClass.reduces), cut(rankClass.gathers), {}, {}});
  }
  return out;
}

} // namespace

std::string_view toString(Overlap overlap) {
  switch (overlap) {
  case Overlap::None:
    return "none";
  case Overlap::Reductions:
    return "reductions";
  case Overlap::Gathers:
    return "gathers";
  case Overlap::Allowed:
    return "allowed";
  }
  return "";
}

IssueOrder programIssue(const program::ProgramSet &set) {
  BucketPolicy one;
  one.kind = BucketPolicy::Kind::One;
  return cutClasses(set, Overlap::None, one);
}

IssueOrder frameworkIssue(const program::ProgramSet &set, BucketPolicy policy,
                          Overlap overlap) {
  return cutClasses(set, overlap, policy);
}

namespace {

/// What follows a piece is in a bucket that follows the piece's; nothing else
/// follows one. Each piece is in one bucket.
template <class Say>
void verifyChains(const std::vector<Bucket> &buckets, const Pieces &pieces,
                  Say say) {
  std::vector<std::uint32_t> before(pieces.size(), Bucket::kNone);
  for (std::size_t b = 0; b < buckets.size(); ++b)
    for (PieceId id : buckets[b].pieces)
      if (pieces[id].then.isValid())
        before[pieces[id].then.index()] = static_cast<std::uint32_t>(b);
  for (std::size_t b = 0; b < buckets.size(); ++b)
    if (std::any_of(
            buckets[b].pieces.begin(), buckets[b].pieces.end(),
            [&](PieceId id) { return before[id.index()] != buckets[b].after; }))
      say(3, b, "does not follow the bucket of what its pieces follow");
}

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
  if (broken.empty())
    verifyChains(buckets, pieces, say);
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

void verifyHolds(const IssueOrder &order, const program::ProgramSet &set,
                 RankClassId id, std::vector<std::string> &broken) {
  const RankProgram &rankClass = set.classes[id];
  const auto mayHold = [&](program::TaskId task) {
    return overlapsReductions(order.overlap) &&
           rankClass.tasks.contains(task) &&
           rankClass.tasks[task].kind == program::TaskKind::Run &&
           rankClass.tasks[task].pass != program::PassKind::Update;
  };
  const auto check = [&](const std::vector<Bucket> &buckets, auto allowed) {
    for (std::size_t b = 0; b < buckets.size(); ++b)
      if (buckets[b].hold.isValid() && !allowed(buckets[b]))
        broken.push_back(
            fmt::format("I7 class `{}` bucket {}: cannot be held for task {}",
                        rankClass.name, b, buckets[b].hold.index()));
  };
  check(order.classes[id].reduces, [&](const Bucket &bucket) {
    return bucket.after == Bucket::kNone && mayHold(bucket.hold);
  });
  check(order.classes[id].gathers, [](const Bucket &) { return false; });
}

} // namespace

Bytes extraOf(const ClassIssue &issue, const std::vector<BlockOrder> &orders,
              const program::ProgramSet &set) {
  std::vector<char> used(orders.size());
  for (const FormUse &use : issue.forms)
    used[use.order] = 1;
  Bytes extra;
  for (std::size_t i = 0; i < orders.size(); ++i)
    if (used[i]) {
      const program::Block &block = set.blocks[orders[i].block];
      extra = std::max(
          extra, program::peakOf(block, orders[i].instructions) -
                     program::peakOf(block, program::orderAsItStands(block)));
    }
  return extra;
}

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
  }
  if (!broken.empty())
    return broken;
  for (RankClassId id : set.classes.ids()) {
    verifyForms(order, set, id, broken);
    if (broken.empty() && order.classes[id].extra !=
                              extraOf(order.classes[id], order.orders, set))
      broken.push_back(
          fmt::format("I6 class {}: holds more than it says", id.index()));
    const RankProgram &rankClass = set.classes[id];
    std::string name = fmt::format("class `{}`", rankClass.name);
    verifyBuckets(order.classes[id].reduces, rankClass.reduces,
                  name + " reduce", broken);
    verifyBuckets(order.classes[id].gathers, rankClass.gathers,
                  name + " gather", broken);
    verifyHolds(order, set, id, broken);
  }
  return broken;
}

} // namespace planc::sim
