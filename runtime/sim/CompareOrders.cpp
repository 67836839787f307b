#include "runtime/sim/CompareOrders.h"

#include "runtime/sim/Bound.h"
#include "runtime/sim/Reorder.h"

#include <algorithm>
#include <memory>

namespace planc::sim {

namespace {

/// Runs orders of one program.
class Runner {
public:
  Runner(const Simulator &simulator, const Options &options)
      : simulator_(simulator), options_(options) {}

  Result<Outcome> run(IssueOrder order) {
    Result<timeline::Timeline> timeline =
        simulator_.run(order, options_, beginning_);
    if (!timeline)
      return timeline.failure();
    return Outcome{std::move(order), std::move(*timeline)};
  }

  const Simulator &simulator() const { return simulator_; }
  const program::ProgramSet &set() const { return simulator_.set(); }
  const Costs &costs() const { return simulator_.costs(); }
  const Options &options() const { return options_; }

private:
  const Simulator &simulator_;
  const Options &options_;
  Beginning beginning_;
};

bool hasPieces(const program::ProgramSet &set) {
  for (const program::RankProgram &rankClass : set.classes)
    if (!rankClass.reduces.empty() || !rankClass.gathers.empty())
      return true;
  return false;
}

/// The best so far: one that others need too, or one of its own.
class Best {
public:
  explicit Best(const Outcome &start) : at_(&start) {}

  const Outcome &get() const { return *at_; }
  Duration stepTime() const { return at_->timeline.stepTime; }

  /// What is no shorter goes.
  bool improve(Outcome next) {
    if (next.timeline.stepTime >= stepTime())
      return false;
    own_ = std::make_unique<Outcome>(std::move(next));
    at_ = own_.get();
    return true;
  }
  bool isOther() const { return own_ != nullptr; }
  Outcome release() { return std::move(*own_); }

private:
  const Outcome *at_;
  std::unique_ptr<Outcome> own_;
};

std::size_t taskCount(const program::ProgramSet &set) {
  std::size_t count = 0;
  for (const program::RankProgram &rankClass : set.classes)
    count += rankClass.tasks.size();
  return count;
}

/// The shortest that the passes of a step take, all ranks together.
Duration pipelineOf(const timeline::Timeline &timeline) {
  Duration least = timeline.stepTime;
  for (const timeline::StepTimes &step : timeline.steps)
    least = std::min(least, step.pipelineEnd - step.pipelineBegin);
  return least;
}

/// Changes the best order so far by what its timeline shows, while that helps.
class Improver {
public:
  Improver(Runner &runner, const Wanted &wanted)
      : runner_(runner), wanted_(wanted) {
    for (const program::RankProgram &rankClass : runner.set().classes)
      for (const program::Piece &piece : rankClass.reduces)
        hasChains_ |= piece.then.isValid();
  }

  /// Beside the passes of an order that overlaps nothing there are no buckets,
  /// so that no buckets at all bring a step below them.
  void doubt(const timeline::Timeline &alone, Duration step) {
    constexpr std::int64_t kPart = 1'000;
    if (taskCount(runner_.set()) > wanted_.manyTasks && allMeet(runner_.set()))
      isHopeless_ = (step - pipelineOf(alone)).value < step.value / kPart;
  }

  std::optional<Failure> improve(Best &best) const {
    constexpr int kRounds = 2;
    if (auto failure = tryNamed(best))
      return failure;
    bool better = true;
    for (int round = 0; better && round < kRounds; ++round) {
      better = false;
      for (bool moves : {true, false}) {
        if (moves ? !wanted_.moveWeights || round > 0 : !cuts())
          continue;
        auto next = moves ? moved(best.get()) : cut(best.get());
        if (!next)
          return next.failure();
        if (*next)
          better |= best.improve(std::move(**next));
      }
    }
    return hold(best);
  }

private:
  bool cuts() const {
    return !wanted_.buckets && wanted_.overlap != Overlap::None && !isHopeless_;
  }

  /// Nothing: what has been seen already.
  using Tried = Result<std::optional<Outcome>>;

  Tried run(IssueOrder order) const {
    Result<Outcome> next = runner_.run(std::move(order));
    if (!next)
      return next.failure();
    return std::optional(std::move(*next));
  }

  /// The sooner; of equals the first.
  static Tried sooner(Tried one, Tried other) {
    if (!one || (other && !*other))
      return one;
    return !other || !*one ||
                   (*other)->timeline.stepTime < (*one)->timeline.stepTime
               ? std::move(other)
               : std::move(one);
  }

  /// Buckets that a plan can name, where one class makes them cheap to try: the
  /// program of boundaries sees when gradients are ready, not what a message
  /// takes from the kernels beside it.
  std::optional<Failure> tryNamed(Best &best) const {
    using Kind = BucketPolicy::Kind;
    constexpr std::int64_t kMebibyte = 1 << 20;
    if (!cuts() || runner_.set().classes.size() != 1)
      return std::nullopt;
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
    std::vector<IssueOrder> tried = {best.get().order};
    for (const BucketPolicy &policy : policies) {
      IssueOrder order = frameworkIssue(runner_.set(), policy, wanted_.overlap);
      if (std::find(tried.begin(), tried.end(), order) != tried.end())
        continue;
      tried.push_back(order);
      Result<Outcome> next = runner_.run(std::move(order));
      if (!next)
        return next.failure();
      best.improve(std::move(*next));
    }
    return std::nullopt;
  }

  Tried cut(const Outcome &seen) const {
    Tried one = cut(seen, Legs::OneLink);
    if (!one || !hasChains_)
      return one;
    return sooner(std::move(one), cut(seen, Legs::TwoLinks));
  }

  Tried cut(const Outcome &seen, Legs legs) const {
    IssueOrder order =
        chosenIssue(runner_.set(), runner_.costs(), seen.timeline, seen.order,
                    {wanted_.overlap, legs});
    if (order == seen.order)
      return std::optional<Outcome>();
    return run(std::move(order));
  }

  /// With other orders of blocks, and buckets for the times these give.
  Tried moved(const Outcome &seen) const {
    Tried first = run(reorderedIssue(runner_.set(), runner_.costs(),
                                     wanted_.spare, seen.timeline, seen.order));
    if (!first || !cuts())
      return first;
    Tried second = cut(**first);
    return sooner(std::move(first), std::move(second));
  }

  /// With reductions that wait, where one stage's are in the way of others.
  std::optional<Failure> hold(Best &best) const {
    // Of what a link gives, reductions get two thirds, or all.
    constexpr std::int64_t kEighths[] = {12, 8};
    if (!wanted_.holds || !cuts() || !overlapsReductions(wanted_.overlap) ||
        runner_.set().classes.size() < 2)
      return std::nullopt;
    std::vector<IssueOrder> orders;
    for (std::int64_t eighths : kEighths)
      orders.push_back(heldIssue(runner_.set(), runner_.costs(),
                                 best.get().timeline, best.get().order,
                                 eighths));
    const IssueOrder seen = best.get().order;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i] == seen || (i > 0 && orders[i] == orders[i - 1]))
        continue;
      Result<Outcome> next = runner_.run(orders[i]);
      if (!next)
        return next.failure();
      best.improve(std::move(*next));
    }
    return std::nullopt;
  }

  Runner &runner_;
  const Wanted &wanted_;
  bool hasChains_ = false;  ///< reductions over two groups
  bool isHopeless_ = false; ///< to look for better buckets
};

/// What is compared, run as far as somebody needs it.
class Orders {
public:
  Orders(Runner &runner, const Wanted &wanted)
      : runner_(runner), wanted_(wanted),
        all_(wanted.compared == Compared::All),
        isOpen_(!wanted.buckets && wanted.overlap != Overlap::None) {}

  Result<Comparison> run() {
    const program::ProgramSet &set = runner_.set();
    const bool chooses = hasPieces(set) || wanted_.moveWeights;
    if (all_ || isOpen_ || !chooses || wanted_.overlap == Overlap::None)
      add(programIssue(set), out_.program);
    if (chooses && (all_ || (isOpen_ && wanted_.overlap == Overlap::Allowed)))
      add(frameworkIssue(set, wanted_.framework), out_.framework);
    Outcome *start = chooses ? findStart() : &out_.program;
    if (failure_)
      return *failure_;
    Best best(*start);
    if (chooses) {
      Improver improver(runner_, wanted_);
      if (isOpen_)
        improver.doubt(out_.program.timeline, best.stepTime());
      failure_ = improver.improve(best);
    }
    if (failure_)
      return *failure_;
    if (best.isOther())
      out_.chosen = best.release();
    else if (all_ && start != &own_)
      out_.chosen = *start;
    else
      out_.chosen = std::move(*start);
    if (all_ && !chooses)
      out_.framework = out_.program;
    if (all_)
      out_.bounds =
          stepLowerBounds(runner_.simulator(), runner_.options().contention);
    return std::move(out_);
  }

private:
  void add(IssueOrder order, Outcome &out) {
    if (failure_)
      return;
    Result<Outcome> made = runner_.run(std::move(order));
    if (made)
      out = std::move(*made);
    else
      failure_ = made.failure();
  }

  /// What the plan asks for, or where it leaves the buckets open, the sooner of
  /// what does not overlap more than it allows.
  Outcome *findStart() {
    if (wanted_.overlap == Overlap::None)
      return &out_.program;
    IssueOrder order = frameworkIssue(
        runner_.set(), wanted_.buckets.value_or(wanted_.framework),
        wanted_.overlap);
    Outcome *start = &out_.framework;
    if (order != start->order) {
      start = &own_;
      add(std::move(order), own_);
    }
    return isOpen_ && out_.program.timeline.stepTime < start->timeline.stepTime
               ? &out_.program
               : start;
  }

  Runner &runner_;
  const Wanted &wanted_;
  const bool all_;
  const bool isOpen_; ///< which buckets
  Comparison out_;
  Outcome own_;
  std::optional<Failure> failure_;
};

} // namespace

Result<Comparison> compareOrders(const program::ProgramSet &set,
                                 const Costs &costs, const Wanted &wanted,
                                 const Options &options) {
  const Simulator simulator(set, costs);
  Runner runner(simulator, options);
  return Orders(runner, wanted).run();
}

} // namespace planc::sim
