#include "runtime/sched/OverlapChains.h"
#include "runtime/sched/Chains.h"

namespace planc::sched {

Problem withPieces(const OverlapProblem &problem) {
  Problem out = problem.problem;
  auto add = [&](Duration duration, Duration release) {
    Task task;
    task.resource = ResourceId(0);
    task.duration = duration;
    task.release = release;
    return out.tasks.add(std::move(task));
  };
  for (const OverlapPiece &piece : problem.pieces) {
    TaskId sent = add(
        problem.groups[static_cast<std::size_t>(piece.group)].of(piece.bytes),
        piece.release);
    if (piece.after.isValid())
      out.tasks[sent].deps.push_back({piece.after, Duration(0)});
    for (TaskId user : piece.users)
      out.tasks[user].deps.push_back({sent, Duration(0)});
    TaskId tail = add(piece.tail, Duration(0));
    out.tasks[tail].deps.push_back({sent, Duration(0)});
  }
  return out;
}

OverlapChains chainsOf(const OverlapProblem &problem) {
  Chains chains = chainsOf(withPieces(problem));
  OverlapChains out;
  for (TaskId id : problem.problem.tasks.ids()) {
    out.head.add(chains.head[id]);
    out.tail.add(chains.tail[id]);
  }
  std::size_t sent = problem.problem.tasks.size();
  for (std::size_t i = 0; i < problem.pieces.size(); ++i, sent += 2) {
    out.ready.add(chains.head[TaskId(sent)]);
    out.arrived.add(chains.tail[TaskId(sent)]);
  }
  return out;
}

} // namespace planc::sched
