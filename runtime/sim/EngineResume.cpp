// Orders that begin alike: what one run has done, another goes on from.
#include "runtime/sim/EngineState.h"

#include <algorithm>

namespace planc::sim {

using program::kStreamCount;

namespace {

bool isLike(const Options &a, const Options &b) {
  return a.steps == b.steps && a.contention == b.contention && a.mode == b.mode;
}

bool haveSameForms(const IssueOrder &a, const IssueOrder &b) {
  return a.orders == b.orders &&
         std::equal(a.classes.begin(), a.classes.end(), b.classes.begin(),
                    b.classes.end(),
                    [](const ClassIssue &one, const ClassIssue &other) {
                      return one.forms == other.forms;
                    });
}

} // namespace

void EngineState::leaveSnapshot(std::shared_ptr<const CompiledProgram> program,
                                std::unique_ptr<const Snapshot> &out) {
  shared_ = std::move(program);
  snapshot_ = &out;
}

/// Once a run. Where a class has already done all its passes, or more than one
/// step, other orders may have done otherwise.
void EngineState::takeSnapshot() {
  const auto isEarly = [&](std::uint32_t c) {
    const auto isFirst = [](const Cursor &cursor) { return cursor.step == 0; };
    return stateOf(0, c).pipelineLeft > 0 &&
           std::all_of(std::begin(classes_[c].order),
                       std::end(classes_[c].order), isFirst);
  };
  bool early = true;
  for (std::uint32_t c = 0; c < classes_.size(); ++c)
    early &= isEarly(c);
  if (early)
    *snapshot_ = std::make_unique<const Snapshot>(
        Snapshot{shared_, *program_.order, options_, *this});
  snapshot_ = nullptr;
}

bool EngineState::resume(const Snapshot &snapshot) {
  if (!mayResume(snapshot))
    return false;
  snapshot_ = nullptr; // there is one already
  EngineData::operator=(snapshot.data);
  for (std::int32_t step = 0; step < options_.steps; ++step) {
    for (std::uint32_t c = 0; c < classes_.size(); ++c) {
      const CompiledClass &now = program_.classes[c],
                          &then = snapshot.program->classes[c];
      const bool last = step + 1 == options_.steps;
      std::fill(std::begin(classes_[c].reduces), std::end(classes_[c].reduces),
                Cursor());
      classes_[c].gathers = Cursor();
      left_ -= then.reduces.size() + (last ? 0 : then.gathers.size());
      for (std::size_t t = 0; t < now.tasks.size(); ++t)
        stateOf(step, c).tasks[t].waiting +=
            now.tasks[t].waiting - then.tasks[t].waiting +
            (step > 0 ? now.tasks[t].later - then.tasks[t].later : 0);
    }
    prepareBuckets(step);
  }
  return true;
}

bool EngineState::mayResume(const Snapshot &snapshot) const {
  if (!isLike(options_, snapshot.options) ||
      !haveSameForms(*program_.order, snapshot.order))
    return false;
  for (std::uint32_t c = 0; c < classes_.size(); ++c)
    if (!differsOnlyLater(snapshot, c))
      return false;
  return true;
}

/// Whatever waits for buckets, makes them ready or awaits other things than in
/// the other order has not begun there, and would not have here.
bool EngineState::differsOnlyLater(const Snapshot &snapshot,
                                   std::uint32_t rankClass) const {
  const CompiledClass &now = program_.classes[rankClass],
                      &then = snapshot.program->classes[rankClass];
  const ClassState &state = snapshot.data.classes_[rankClass];
  const StepState &step = snapshot.data.steps_[0][rankClass];
  const auto hasBegun = [&](std::uint32_t task) {
    const auto stream = static_cast<std::size_t>(now.tasks[task].stream);
    const std::uint32_t at = state.order[stream].at;
    const std::vector<std::uint32_t> &order = now.order[stream];
    return at == order.size() || task < order[at];
  };
  const auto isHooked = [&](const CompiledClass &one, std::uint32_t task) {
    const std::uint32_t hooks = one.tasks[task].hooks;
    return hooks != kNone && (!one.hooks[hooks].pieces.empty() ||
                              !one.hooks[hooks].gathers.empty());
  };
  for (std::uint32_t t = 0; t < now.tasks.size(); ++t) {
    const std::int32_t more = now.tasks[t].waiting - then.tasks[t].waiting;
    if (more != 0 && (step.tasks[t].waiting + more <= 0 || hasBegun(t)))
      return false;
    if ((isHooked(now, t) || isHooked(then, t)) && hasBegun(t))
      return false;
  }
  return true;
}

} // namespace planc::sim
