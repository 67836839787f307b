#include "runtime/sim/CompareOrders.h"

#include "runtime/sim/Bound.h"
#include "runtime/sim/Reorder.h"

#include <algorithm>

namespace planc::sim {

namespace {

Result<Outcome> outcomeOf(const Simulator &simulator, IssueOrder order,
                          const Options &options) {
  Result<timeline::Timeline> timeline = simulator.run(order, options);
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
  Improver(const Simulator &simulator, const Wanted &wanted,
           const Options &options)
      : simulator_(simulator), wanted_(wanted), options_(options) {
    for (const program::RankProgram &rankClass : simulator.set().classes)
      for (const program::Piece &piece : rankClass.reduces)
        hasChains_ |= piece.then.isValid();
  }

  Result<Outcome> improve(Outcome start) {
    constexpr int kRounds = 2;
    Result<Outcome> named = bestNamed(std::move(start));
    if (!named)
      return named;
    Outcome best = std::move(*named);
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
    return hold(std::move(best));
  }

private:
  bool cuts() const {
    return !wanted_.buckets && wanted_.overlap != Overlap::None;
  }

  /// Buckets that a plan can name, where one class makes them cheap to try: the
  /// program of boundaries sees when gradients are ready, not what a message
  /// takes from the kernels beside it.
  Result<Outcome> bestNamed(Outcome best) const {
    using Kind = BucketPolicy::Kind;
    constexpr std::int64_t kMebibyte = 1 << 20;
    if (!cuts() || simulator_.set().classes.size() != 1)
      return best;
    std::vector<BucketPolicy> policies;
    for (Kind kind : {Kind::Ddp, Kind::Megatron, Kind::Layer, Kind::One}) {
      policies.push_back(wanted_.framework);
      policies.back().kind = kind;
    }
    for (std::int64_t size : {64, 128, 256, 512, 1024}) {
      policies.push_back(wanted_.framework);
      policies.back().kind = Kind::Size;
      policies.back().size = Bytes(size * kMebibyte);
    }
    std::vector<IssueOrder> tried = {best.order};
    for (const BucketPolicy &policy : policies) {
      IssueOrder order =
          frameworkIssue(simulator_.set(), policy, wanted_.overlap);
      if (std::find(tried.begin(), tried.end(), order) != tried.end())
        continue;
      tried.push_back(order);
      Result<Outcome> next = outcomeOf(simulator_, std::move(order), options_);
      if (!next)
        return next;
      if (next->timeline.stepTime < best.timeline.stepTime)
        best = std::move(*next);
    }
    return best;
  }

  Result<Outcome> cut(const Outcome &seen) const {
    Result<Outcome> one = cut(seen, Legs::OneLink);
    if (!one || !hasChains_)
      return one;
    Result<Outcome> two = cut(seen, Legs::TwoLinks);
    return !two || two->timeline.stepTime < one->timeline.stepTime
               ? std::move(two)
               : std::move(one);
  }

  Result<Outcome> cut(const Outcome &seen, Legs legs) const {
    IssueOrder order =
        chosenIssue(simulator_.set(), simulator_.costs(), seen.timeline,
                    seen.order, {wanted_.overlap, legs});
    if (order == seen.order)
      return seen;
    return outcomeOf(simulator_, std::move(order), options_);
  }

  /// With other orders of blocks, and buckets for the times these give.
  Result<Outcome> moved(const Outcome &seen) const {
    Result<Outcome> first =
        outcomeOf(simulator_,
                  reorderedIssue(simulator_.set(), simulator_.costs(),
                                 wanted_.spare, seen.timeline, seen.order),
                  options_);
    if (!first || !cuts())
      return first;
    Result<Outcome> second = cut(*first);
    return !second || second->timeline.stepTime < first->timeline.stepTime
               ? std::move(second)
               : std::move(first);
  }

  /// With reductions that wait, where one stage's are in the way of others.
  Result<Outcome> hold(Outcome seen) const {
    // Of what a link gives, reductions get two thirds, or all.
    constexpr std::int64_t kEighths[] = {12, 8};
    if (!wanted_.holds || !cuts() || !overlapsReductions(wanted_.overlap) ||
        simulator_.set().classes.size() < 2)
      return seen;
    std::optional<Outcome> better;
    for (std::int64_t eighths : kEighths) {
      IssueOrder held = heldIssue(simulator_.set(), simulator_.costs(),
                                  seen.timeline, seen.order, eighths);
      if (held == seen.order)
        continue;
      Result<Outcome> next = outcomeOf(simulator_, std::move(held), options_);
      if (!next)
        return next;
      const Outcome &least = better ? *better : seen;
      if (next->timeline.stepTime < least.timeline.stepTime)
        better = std::move(*next);
    }
    return better ? std::move(*better) : std::move(seen);
  }

  const Simulator &simulator_;
  const Wanted &wanted_;
  const Options &options_;
  bool hasChains_ = false; ///< reductions over two groups
};

/// What the plan asks for, or where it leaves the buckets open, the sooner of
/// what has been run and does not overlap more than it allows.
Result<Outcome> startOf(const Simulator &simulator, const Wanted &wanted,
                        const Comparison &seen, const Options &options) {
  if (wanted.overlap == Overlap::None)
    return seen.program;
  Result<Outcome> start =
      wanted.buckets || wanted.overlap != Overlap::Allowed
          ? outcomeOf(simulator,
                      frameworkIssue(simulator.set(),
                                     wanted.buckets.value_or(wanted.framework),
                                     wanted.overlap),
                      options)
          : Result<Outcome>(seen.framework);
  if (!start || wanted.buckets)
    return start;
  return seen.program.timeline.stepTime < start->timeline.stepTime
             ? seen.program
             : std::move(*start);
}

} // namespace

Result<Comparison> compareOrders(const program::ProgramSet &set,
                                 const Costs &costs, const Wanted &wanted,
                                 const Options &options) {
  Comparison out;
  const Simulator simulator(set, costs);
  Result<Outcome> program = outcomeOf(simulator, programIssue(set), options);
  if (!program)
    return program.failure();
  out.program = std::move(*program);
  out.bounds = stepLowerBounds(simulator);
  if (!hasPieces(set) && !wanted.moveWeights) {
    out.framework = out.chosen = out.program;
    return out;
  }
  Result<Outcome> framework =
      outcomeOf(simulator, frameworkIssue(set, wanted.framework), options);
  if (!framework)
    return framework.failure();
  out.framework = std::move(*framework);
  Result<Outcome> start = startOf(simulator, wanted, out, options);
  if (!start)
    return start.failure();
  Result<Outcome> chosen =
      Improver(simulator, wanted, options).improve(std::move(*start));
  if (!chosen)
    return chosen.failure();
  out.chosen = std::move(*chosen);
  return out;
}

} // namespace planc::sim
