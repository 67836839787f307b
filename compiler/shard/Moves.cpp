#include "compiler/shard/Moves.h"

#include <algorithm>

namespace planc::shard {
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
    changes_.push_back({stage, {kind, {axis_}, from, to, members}});
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

std::vector<Move> planMoves(const Layout &from, const Layout &to,
                            const Homes &homes) {
  std::vector<Change> changes;
  for (std::size_t a = 0; a < from.cut.size(); ++a)
    for (Change &change : AxisChanges(homes, AxisId(a)).plan(from, to)) {
      auto equal = std::find_if(
          changes.begin(), changes.end(), [&](const Change &other) {
            return other.stage == change.stage &&
                   other.move.from == change.move.from &&
                   other.move.to == change.move.to &&
                   other.move.members == change.move.members &&
                   homes.method(other.move.axes[0]) == homes.method(AxisId(a));
          });
      if (equal == changes.end())
        changes.push_back(std::move(change));
      else
        equal->move.axes.push_back(AxisId(a));
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
  for (AxisId axis : move.axes) {
    std::size_t a = axis.index();
    layout.cut[a] = move.to;
    layout.partial[a] =
        move.kind == StepKind::ReduceScatter && homes.copies(move.to, axis) > 1;
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
