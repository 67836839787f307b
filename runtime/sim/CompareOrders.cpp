#include "runtime/sim/CompareOrders.h"

#include "runtime/sim/Bound.h"
#include "runtime/sim/Reorder.h"

namespace planc::sim {

namespace {

Result<Outcome> outcomeOf(const program::ProgramSet &set, const Costs &costs,
                          IssueOrder order, const Options &options) {
  Result<timeline::Timeline> timeline = simulate(set, costs, order, options);
  if (!timeline)
    return timeline.failure();
  return Outcome{std::move(order), std::move(*timeline)};
}

bool hasPieces(const program::ProgramSet &set) {
  for (const program::RankProgram &rankClass : set.classes)
    if (!rankClass.reduces.empty() || !rankClass.gathers.empty())
      return true;
  return false;
}

/// Changes the best order so far by what its timeline shows, while that helps.
class Improver {
public:
  Improver(const program::ProgramSet &set, const Costs &costs,
           const Wanted &wanted, const Options &options)
      : set_(set), costs_(costs), wanted_(wanted), options_(options) {}

  Result<Outcome> improve(Outcome best) {
    constexpr int kRounds = 2;
    bool better = true;
    for (int round = 0; better && round < kRounds; ++round) {
      better = false;
      for (bool moves : {true, false}) {
        if (moves ? !wanted_.moveWeights || round > 0 : !cuts())
          continue;
        Result<Outcome> next = moves ? moved(best) : cut(best);
        if (!next)
          return next;
        if (next->timeline.stepTime >= best.timeline.stepTime)
          continue;
        best = std::move(*next);
        better = true;
      }
    }
    return best;
  }

private:
  bool cuts() const {
    return !wanted_.buckets && wanted_.overlap == Overlap::Allowed;
  }

  Result<Outcome> cut(const Outcome &seen) const {
    return outcomeOf(set_, costs_,
                     chosenIssue(set_, costs_, seen.timeline, seen.order),
                     options_);
  }

  /// With other orders of blocks, and buckets for the times these give.
  Result<Outcome> moved(const Outcome &seen) const {
    Result<Outcome> first = outcomeOf(
        set_, costs_,
        reorderedIssue(set_, costs_, wanted_.spare, seen.timeline, seen.order),
        options_);
    if (!first || !cuts())
      return first;
    Result<Outcome> second = cut(*first);
    return !second || second->timeline.stepTime < first->timeline.stepTime
               ? std::move(second)
               : std::move(first);
  }

  const program::ProgramSet &set_;
  const Costs &costs_;
  const Wanted &wanted_;
  const Options &options_;
};

} // namespace

Result<Comparison> compareOrders(const program::ProgramSet &set,
                                 const Costs &costs, const Wanted &wanted,
                                 const Options &options) {
  Comparison out;
  Result<Outcome> program = outcomeOf(set, costs, programIssue(set), options);
  if (!program)
    return program.failure();
  out.program = std::move(*program);
  out.bound = stepLowerBound(set, costs);
  if (!hasPieces(set) && !wanted.moveWeights) {
    out.framework = out.chosen = out.program;
    return out;
  }
  Result<Outcome> framework =
      outcomeOf(set, costs, frameworkIssue(set, wanted.framework), options);
  if (!framework)
    return framework.failure();
  out.framework = std::move(*framework);
  Result<Outcome> start =
      wanted.overlap == Overlap::None ? out.program
      : wanted.buckets
          ? outcomeOf(set, costs, frameworkIssue(set, *wanted.buckets), options)
      : out.program.timeline.stepTime < out.framework.timeline.stepTime
          ? out.program
          : out.framework;
  if (!start)
    return start.failure();
  Result<Outcome> chosen =
      Improver(set, costs, wanted, options).improve(std::move(*start));
  if (!chosen)
    return chosen.failure();
  out.chosen = std::move(*chosen);
  return out;
}

} // namespace planc::sim
