#include "runtime/sim/CompareOrders.h"

#include "runtime/sim/Bound.h"

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

/// Cuts buckets by what the best timeline so far shows, while that helps.
Result<Outcome> improve(const program::ProgramSet &set, const Costs &costs,
                        Outcome best, const Options &options) {
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    Result<Outcome> next =
        outcomeOf(set, costs, chosenIssue(set, costs, best.timeline), options);
    if (!next)
      return next.failure();
    if (next->timeline.stepTime >= best.timeline.stepTime)
      break;
    best = std::move(*next);
  }
  return best;
}

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
  if (!hasPieces(set)) {
    out.framework = out.chosen = out.program;
    return out;
  }
  Result<Outcome> framework =
      outcomeOf(set, costs, frameworkIssue(set, wanted.framework), options);
  if (!framework)
    return framework.failure();
  out.framework = std::move(*framework);
  if (wanted.overlap == Overlap::None) {
    out.chosen = out.program;
    return out;
  }
  bool faster = out.program.timeline.stepTime < out.framework.timeline.stepTime;
  Result<Outcome> chosen =
      wanted.buckets
          ? outcomeOf(set, costs, frameworkIssue(set, *wanted.buckets), options)
          : improve(set, costs, faster ? out.program : out.framework, options);
  if (!chosen)
    return chosen.failure();
  out.chosen = std::move(*chosen);
  return out;
}

} // namespace planc::sim
