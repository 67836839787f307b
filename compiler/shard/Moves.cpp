#include "compiler/shard/Moves.h"

#include <algorithm>

namespace planc::shard {

using ops::DimId;

namespace {

/// Order of moves; equal changes of one stage become one collective.
enum class Stage {
  SumCopies,
  Slice,
  ReduceScatter,
  AllReduce,
  SumScattered,
  AllToAll,
  AllGather,
  CutAgain,
};

struct Change {
  Stage stage;
  Move move; ///< on one axis
};

/// What one axis has to do.
class AxisChanges {
public:
  AxisChanges(const Homes &homes, AxisId axis) : homes_(homes), axis_(axis) {}

  std::vector<Change> plan(const Layout &from, const Layout &to) {
    std::size_t a = axis_.index();
    ops::DimId cut = from.cut[a], want = to.cut[a];
    bool partial = from.partial[a];
    if (cut == want && partial == to.partial[a])
      return {};
    if (partial && cut.isValid()) {
      add(Stage::SumCopies, StepKind::AllReduce, cut, cut, Members::Copies);
      partial = false;
    }
    if (partial)
      bringHome(want, to.partial[a]);
    else if (!cut.isValid() && want.isValid())
      add(Stage::Slice, StepKind::Slice, {}, want, Members::All);
    else if (cut.isValid() && !want.isValid())
      makeWhole(cut);
    else if (cut != want)
      exchange(cut, want);
    return std::move(changes_);
  }

private:
  void add(Stage stage, StepKind kind, ops::DimId from, ops::DimId to,
           Members members) {
    changes_.push_back({stage, {kind, {axis_}, from, to, members, {to}}});
  }

  void bringHome(ops::DimId want, bool keepCopies) {
    if (homes_.parts(want, axis_) == 1) {
      add(Stage::AllReduce, StepKind::AllReduce, {}, want, Members::All);
      return;
    }
    add(Stage::ReduceScatter, StepKind::ReduceScatter, {}, want,
        Members::Parts);
    if (homes_.copies(want, axis_) > 1 && !keepCopies)
      add(Stage::SumScattered, StepKind::AllReduce, want, want,
          Members::Copies);
  }

  /// A dimension cut into one part is whole already: only the name changes.
  void makeWhole(ops::DimId cut) {
    if (homes_.parts(cut, axis_) == 1)
      add(Stage::Slice, StepKind::Slice, cut, {}, Members::All);
    else
      add(Stage::AllGather, StepKind::AllGather, cut, {}, Members::Parts);
  }

  void exchange(ops::DimId cut, ops::DimId want) {
    if (homes_.copies(cut, axis_) == 1 && homes_.copies(want, axis_) == 1) {
      add(Stage::AllToAll, StepKind::AllToAll, cut, want, Members::All);
      return;
    }
    makeWhole(cut);
    add(Stage::CutAgain, StepKind::Slice, {}, want, Members::All);
  }

  const Homes &homes_;
  AxisId axis_;
  std::vector<Change> changes_;
};

} // namespace

namespace {

/// Whether two changes may be one collective. Of exchanges it is enough that
/// they agree on one side: tokens that go to their experts from `batch` and
/// from `seq`, or come back.
bool canJoin(const Change &a, const Change &b) {
  bool sameFrom = a.move.from == b.move.from, sameTo = a.move.to == b.move.to;
  bool exchange = a.stage == Stage::AllToAll && a.move.members == Members::All;
  return a.stage == b.stage && a.move.members == b.move.members &&
         (exchange ? sameFrom || sameTo : sameFrom && sameTo);
}

void join(Move &into, const Move &other) {
  if (into.from != other.from)
    into.from = DimId();
  if (into.to != other.to)
    into.to = DimId();
  into.axes.insert(into.axes.end(), other.axes.begin(), other.axes.end());
  into.toByAxis.insert(into.toByAxis.end(), other.toByAxis.begin(),
                       other.toByAxis.end());
}

} // namespace

std::vector<Move> planMoves(const Layout &from, const Layout &to,
                            const Homes &homes) {
  std::vector<Change> changes;
  for (std::size_t a = 0; a < from.cut.size(); ++a)
    for (Change &change : AxisChanges(homes, AxisId(a)).plan(from, to)) {
      auto equal = std::find_if(
          changes.begin(), changes.end(), [&](const Change &other) {
            return canJoin(other, change) &&
                   homes.method(other.move.axes[0]) == homes.method(AxisId(a));
          });
      if (equal == changes.end())
        changes.push_back(std::move(change));
      else
        join(equal->move, change.move);
    }
  std::stable_sort(
      changes.begin(), changes.end(),
      [](const Change &a, const Change &b) { return a.stage < b.stage; });
  std::vector<Move> moves;
  for (Change &change : changes)
    moves.push_back(std::move(change.move));
  return moves;
}

Layout afterMove(Layout layout, const Move &move, const Homes &homes) {
  for (std::size_t i = 0; i < move.axes.size(); ++i) {
    std::size_t a = move.axes[i].index();
    layout.cut[a] = i < move.toByAxis.size() ? move.toByAxis[i] : move.to;
    layout.partial[a] = move.kind == StepKind::ReduceScatter &&
                        homes.copies(move.to, move.axes[i]) > 1;
  }
  return layout;
}

void setGroup(Step &step, const Move &move, const Homes &homes) {
  step.axes = move.axes;
  ops::DimId dim = move.kind == StepKind::AllGather ? move.from : move.to;
  for (AxisId axis : move.axes) {
    std::int64_t stride = homes.stride(axis);
    std::int64_t copies = homes.copies(dim, axis);
    switch (move.members) {
    case Members::All:
      step.sizes.push_back(homes.size(axis));
      step.strides.push_back(stride);
      break;
    case Members::Parts:
      step.sizes.push_back(homes.parts(dim, axis));
      step.strides.push_back(stride * copies);
      break;
    case Members::Copies:
      step.sizes.push_back(copies);
      step.strides.push_back(stride);
      break;
    }
  }
}

} // namespace planc::shard
