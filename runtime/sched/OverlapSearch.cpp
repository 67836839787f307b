#include "runtime/sched/OverlapChains.h"
#include "runtime/sched/OverlapDispatch.h"

namespace planc::sched {

namespace {

/// Of those that can run the first best.
class Best {
public:
  void consider(std::optional<OverlapSchedule> schedule) {
    if (schedule && (!best_ || schedule->makespan < best_->makespan))
      best_ = std::move(schedule);
  }
  OverlapSchedule take() { return std::move(*best_); }

private:
  std::optional<OverlapSchedule> best_;
};

} // namespace

OverlapSchedule scheduleOverlap(const OverlapProblem &problem,
                                std::span<const OverlapSchedule> starts,
                                const OverlapDecisions &) {
  OverlapNetwork network(problem);
  OverlapChains chains = chainsOf(problem);
  Best best;
  best.consider(overlapInProgramOrder(problem));
  best.consider(overlapFramework(problem));
  for (const OverlapSchedule &start : starts)
    best.consider(start);
  DispatchRules rules;
  rules.tasks = TaskRule::ByPriority;
  rules.link = LinkRule::ByPriority;
  for (TaskId id : problem.problem.tasks.ids())
    rules.taskPriority.push_back(
        (problem.problem.tasks[id].duration + chains.tail[id]).value);
  std::vector<std::vector<OverlapPieceId>> alone;
  for (OverlapPieceId id : problem.pieces.ids()) {
    alone.push_back({id});
    rules.bucketPriority.push_back(network.costOf(alone.back()) +
                                   chains.arrived[id].value);
  }
  std::optional<OverlapOrder> order =
      dispatch(network, rules, std::move(alone));
  if (order && network.run(*order))
    best.consider(network.schedule(*order));
  return best.take();
}

} // namespace planc::sched
