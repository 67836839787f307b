#include "runtime/sim/PieceGroups.h"

#include <algorithm>
#include <limits>

namespace planc::sim {

using program::Piece;
using program::PieceId;
using program::RankProgram;
using sched::Buckets;
using timeline::Bucket;

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

namespace {

/// Each chain right behind its first bucket.
std::vector<Bucket>
assemble(const Pieces &pieces, const std::vector<std::vector<PieceId>> &groups,
         const std::vector<Buckets> &ends,
         const std::function<bool(PieceId, PieceId)> &before,
         const Join &join) {
  Heads heads;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t begin = 0;
    for (std::size_t end : ends[g]) {
      heads.emplace_back(groups[g].begin() + static_cast<std::ptrdiff_t>(begin),
                         groups[g].begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
  }
  std::sort(heads.begin(), heads.end(), [&](const auto &a, const auto &b) {
    return before(a.back(), b.back());
  });
  if (join)
    join(heads);
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

} // namespace

std::vector<sched::Item> itemsOf(const Pieces &pieces,
                                 const std::vector<PieceId> &group) {
  std::vector<sched::Item> items;
  for (PieceId id : group)
    items.push_back({Duration(0), pieces[id].message.bytes});
  return items;
}

std::vector<Bucket> cutAll(const Pieces &pieces,
                           std::span<const Duration> order, const Cut &cut,
                           const Join &join) {
  const auto before = [&](PieceId a, PieceId b) {
    if (!order.empty() && order[a.index()] != order[b.index()])
      return order[a.index()] < order[b.index()];
    return a < b;
  };
  std::vector<std::vector<PieceId>> groups = groupsOf(pieces);
  std::vector<Buckets> ends;
  for (std::vector<PieceId> &group : groups) {
    std::sort(group.begin(), group.end(), before);
    ends.push_back(cut(group));
  }
  return assemble(pieces, groups, ends, before, join);
}

namespace {

/// What a bucket of so many bytes costs on the links of its chain from `from`
/// to before `until`, which carry their share of its first piece's bytes.
class ChainCost {
public:
  ChainCost(const Costs &costs, const RankProgram &rankClass,
            const Pieces &pieces, PieceId first)
      : costs_(costs), rankClass_(rankClass), pieces_(pieces),
        head_(std::max<std::int64_t>(1, pieces[first].message.bytes.value)) {}

  sched::LinkCost line(PieceId from, PieceId until, Bytes most) const {
    const Bytes least(most.value / 16);
    const Duration low = along(from, until, least),
                   high = along(from, until, most);
    sched::LinkCost out;
    if (most > least && high > low)
      out.psPerGibibyte = static_cast<std::int64_t>(
          (Int128((high - low).value) << 30) / (most - least).value);
    const Duration flow =
        sched::LinkCost{Duration(0), out.psPerGibibyte}.of(least);
    out.latency = std::max(Duration(0), low - flow);
    return out;
  }

private:
  Duration along(PieceId from, PieceId until, Bytes bytes) const {
    Duration sum(0);
    for (PieceId id = from; id != until; id = pieces_[id].then)
      sum += costs_
                 .bucket(rankClass_, pieces_[id],
                         Bytes(static_cast<std::int64_t>(
                             Int128(bytes.value) *
                             pieces_[id].message.bytes.value / head_)))
                 .duration;
    return sum;
  }

  const Costs &costs_;
  const RankProgram &rankClass_;
  const Pieces &pieces_;
  Int128 head_;
};

} // namespace

sched::LinkCost lineThrough(const Costs &costs, const RankProgram &rankClass,
                            const Pieces &pieces, PieceId first, Bytes most) {
  return ChainCost(costs, rankClass, pieces, first)
      .line(first, PieceId(), most);
}

sched::TwoLinks linesThrough(const Costs &costs, const RankProgram &rankClass,
                             const Pieces &pieces, PieceId first, Bytes most) {
  const ChainCost cost(costs, rankClass, pieces, first);
  const PieceId second = pieces[first].then;
  return {cost.line(first, second, most), cost.line(second, PieceId(), most)};
}

std::vector<char> secondLegs(const program::ProgramSet &set,
                             const RankProgram &rankClass) {
  const Pieces &pieces = rankClass.reduces;
  const auto afterScatter = [&](PieceId id) {
    const std::vector<program::Instruction> &code =
        set.blocks[rankClass.tasks[pieces[id].task].block].instructions;
    return pieces[id].instruction < code.size() &&
           code[pieces[id].instruction].stream == program::Stream::Gradients;
  };
  std::vector<char> out(pieces.size());
  for (const Piece &piece : pieces)
    if (piece.then.isValid())
      out[piece.then.index()] = 1;
  for (const std::vector<PieceId> &group : groupsOf(pieces))
    if (std::any_of(group.begin(), group.end(), afterScatter))
      for (PieceId id : group)
        out[id.index()] = 1;
  return out;
}

} // namespace planc::sim
