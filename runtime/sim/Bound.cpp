#include "runtime/sim/StepBound.h"

#include "runtime/sched/Algorithms.h"

#include <algorithm>

namespace planc::sim {

using program::PassKind;
using program::Piece;
using program::RankClassId;
using program::RankProgram;
using program::Task;
using program::TaskId;
using program::TaskKind;

namespace {

bool allUpdate(const program::ProgramSet &set) {
  const auto isUpdate = [](const Task &task) {
    return task.kind == TaskKind::Run && task.pass == PassKind::Update;
  };
  return std::all_of(
      set.classes.begin(), set.classes.end(), [&](const RankProgram &one) {
        return std::any_of(one.tasks.begin(), one.tasks.end(), isUpdate);
      });
}

std::map<TaskId, std::int32_t> firstForwards(const RankProgram &rankClass) {
  std::map<std::int32_t, TaskId> byChunk;
  for (TaskId id : rankClass.tasks.ids())
    if (const Task &task = rankClass.tasks[id];
        task.kind == TaskKind::Run && task.pass == PassKind::Forward)
      byChunk.try_emplace(task.chunk, id);
  std::map<TaskId, std::int32_t> out;
  for (const auto &[chunk, id] : byChunk)
    out[id] = chunk;
  return out;
}

} // namespace

bool allMeet(const program::ProgramSet &set) {
  std::size_t members = 0, norms = 0;
  std::int64_t tag = -1;
  bool oneTag = true;
  for (const RankProgram &rankClass : set.classes)
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Collective &&
          task.message.kind == program::CommunicationKind::Norm) {
        oneTag &= norms++ == 0 || task.tag == tag;
        tag = task.tag;
        ++members;
      }
  if (norms > 0)
    return oneTag && members == set.classes.size() &&
           (tag >= 0 || set.classes.size() == 1);
  return set.stepEnd == program::ProgramSet::StepEnd::Joined;
}

BlockBound boundOf(const program::Block &block,
                   const std::vector<OpCost> &costs) {
  sched::Problem problem;
  problem.resources = program::kStreamCount;
  for (std::size_t i = 0; i < block.instructions.size(); ++i) {
    sched::Task task;
    task.resource = sched::ResourceId(
        static_cast<std::size_t>(block.instructions[i].stream));
    task.duration = costs[i].duration;
    for (std::uint32_t dep : block.instructions[i].deps)
      task.deps.push_back({sched::TaskId(dep), Duration(0)});
    problem.tasks.add(std::move(task));
  }
  const sched::Chains chains = sched::loadedChainsOf(problem);
  BlockBound out;
  out.least = sched::sweptBound(problem, chains);
  for (sched::TaskId id : problem.tasks.ids()) {
    const Duration own = problem.tasks[id].duration;
    out.ready.push_back(chains.head[id] + own);
    out.left.push_back(own + chains.tail[id]);
  }
  return out;
}

StepBound::StepBound(const Simulator &simulator, Contention contention)
    : set_(simulator.set()), costs_(simulator.costs()),
      program_(simulator.program()), contention_(contention) {
  for (program::BlockId id : set_.blocks.ids())
    blocks_.push_back(
        boundOf(set_.blocks[id], costs_.instructions[id.index()]));
}

LowerBounds StepBound::find() {
  LowerBounds bounds;
  for (const RankProgram &rankClass : set_.classes)
    bounds.anyOrder = std::max(bounds.anyOrder, loadOf(rankClass));
  bounds.inOrder = bounds.anyOrder;
  // Where ranks do not meet, each by itself goes from update to update.
  meet_ = allMeet(set_);
  if (!meet_ && !allUpdate(set_))
    return bounds;
  for (RankClassId c : set_.classes.ids())
    addClass(c, meet_ ? Awaited::ByAnything : Awaited::ByRuns);
  if (meet_)
    linkTransfers();
  for (RankClassId c : set_.classes.ids())
    linkGathers(c);
  linkRests();
  // What the order adds goes to the end of each list, and is taken off again.
  // Whatever order serves with it serves without.
  std::vector<std::size_t> free;
  free.reserve(problem_.tasks.size());
  for (const sched::Task &task : problem_.tasks)
    free.push_back(task.deps.size());
  linkOrder();
  const std::vector<sched::TaskId> order = sched::anyOrder(problem_);
  const Duration inOrder = endOf(sched::chainsOf(problem_, order));
  for (sched::TaskId id : problem_.tasks.ids())
    if (id.index() < free.size())
      problem_.tasks[id].deps.resize(free[id.index()]);
    else
      problem_.tasks[id].duration = Duration(0);
  bounds.anyOrder =
      std::max(bounds.anyOrder, endOf(sched::chainsOf(problem_, order)));
  bounds.inOrder = std::max(bounds.anyOrder, inOrder);
  return bounds;
}

Duration StepBound::endOf(const sched::Chains &chains) const {
  Duration end = sched::lowerBound(problem_, chains);
  for (RankClassId c : set_.classes.ids())
    end = std::max(end, reductionsEnd(c, chains));
  return end;
}

Duration StepBound::loadOf(const RankProgram &rankClass) const {
  Duration load(0);
  for (const Task &task : rankClass.tasks)
    if (task.kind == TaskKind::Run)
      load += blockOf(task).least;
  return load;
}

sched::TaskId StepBound::add(Duration duration, std::size_t resource) {
  sched::Task task;
  task.duration = duration;
  task.resource = sched::ResourceId(resource);
  task.deps.reserve(4);
  return problem_.tasks.add(task);
}

void StepBound::addClass(RankClassId c, Awaited awaits) {
  const RankProgram &rankClass = set_.classes[c];
  Duration update(0);
  for (const Task &task : rankClass.tasks)
    if (task.kind == TaskKind::Run && task.pass == PassKind::Update)
      update += blockOf(task).least;
  sched::TaskId first = add(update, problem_.resources++);
  std::size_t compute = problem_.resources++;
  std::vector<sched::TaskId> &nodes = nodes_.emplace_back();
  std::vector<char> awaited(rankClass.tasks.size());
  for (const Task &task : rankClass.tasks)
    if (awaits == Awaited::ByAnything || task.kind == TaskKind::Run)
      for (TaskId dep : task.deps)
        awaited[dep.index()] = 1;
  for (TaskId id : rankClass.tasks.ids()) {
    const Task &task = rankClass.tasks[id];
    bool run = task.kind == TaskKind::Run;
    // The update of this step begins at the next meeting.
    if (run && task.pass == PassKind::Update) {
      nodes.emplace_back();
      continue;
    }
    const bool isHere = task.stream == program::Stream::Compute;
    // What nothing waits for may still be under way at the meeting.
    const bool counts =
        task.kind == TaskKind::Collective &&
        (isHere || awaited[id.index()] ||
         (awaits == Awaited::ByAnything &&
          task.message.kind == program::CommunicationKind::Norm));
    const Duration own =
        counts ? costs_.tasks[c.index()][id.index()].duration : Duration(0);
    sched::TaskId node =
        run ? add(blockOf(task).least, compute)
            : add(own, isHere ? compute : problem_.resources++);
    nodes.push_back(node);
    auto &deps = problem_.tasks[node].deps;
    if (run)
      deps.push_back({first, Duration(0)});
    for (TaskId dep : task.deps)
      if (nodes[dep.index()].isValid())
        deps.push_back({nodes[dep.index()], Duration(0)});
  }
  linkPasses(rankClass, nodes);
  updates_.push_back(first);
}

void StepBound::linkPasses(const RankProgram &rankClass,
                           const std::vector<sched::TaskId> &nodes) {
  std::unordered_map<std::uint64_t, sched::TaskId> runs[3]; // by pass
  const auto runsOf = [&](PassKind pass) -> auto & {
    return runs[static_cast<std::size_t>(pass)];
  };
  const auto note = [&](PassKind pass, std::int32_t microBatch,
                        std::int32_t chunk, sched::TaskId node) {
    const std::uint64_t key =
        std::uint64_t(std::uint32_t(microBatch)) << 32 | std::uint32_t(chunk);
    if (pass != PassKind::Forward)
      for (PassKind before : {PassKind::Forward, PassKind::Backward})
        if (before != pass)
          if (auto at = runsOf(before).find(key);
              at != runsOf(before).end() && at->second != node)
            problem_.tasks[node].deps.push_back({at->second, Duration(0)});
    runsOf(pass).try_emplace(key, node);
  };
  for (TaskId id : rankClass.tasks.ids()) {
    const Task &task = rankClass.tasks[id];
    if (task.kind != TaskKind::Run || task.pass == PassKind::Update ||
        task.microBatch < 0)
      continue;
    note(task.pass, task.microBatch, task.chunk, nodes[id.index()]);
    if (task.withMicroBatch >= 0)
      note(PassKind::Backward, task.withMicroBatch, task.withChunk,
           nodes[id.index()]);
  }
}

void StepBound::linkGathers(RankClassId c) {
  const RankProgram &rankClass = set_.classes[c];
  const PieceLoads loads(costs_, rankClass, rankClass.gathers);
  const std::size_t link = problem_.resources++;
  // What the first forward of a chunk waits for, all of them do.
  std::map<std::int32_t, Gathered> byChunk;
  const std::map<TaskId, std::int32_t> firsts = firstForwards(rankClass);
  for (const Piece &piece : rankClass.gathers) {
    const OpCost own = costs_.bucket(rankClass, piece, piece.message.bytes);
    for (const Piece::Use &use : piece.uses)
      if (auto at = firsts.find(use.task); at != firsts.end()) {
        byChunk[at->second].add(
            loads.shareOf(piece), loads.useOf(piece, own),
            blockOf(rankClass.tasks[use.task]).leftFrom(use.instruction));
        break;
      }
    // A bucket that has it takes no less than it does by itself.
    const sched::TaskId alone = lengthAfter(c, own.duration);
    const sched::TaskId gather = add(loads.shareOf(piece), link);
    problem_.tasks[gather].deps.push_back({updates_[c.index()], Duration(0)});
    for (const Piece::Use &use : piece.uses) {
      const sched::TaskId run = nodes_[c.index()][use.task.index()];
      const BlockBound &block = blockOf(rankClass.tasks[use.task]);
      if (!run.isValid() || use.instruction >= block.left.size())
        continue;
      const sched::TaskId rest =
          add(block.leftFrom(use.instruction), problem_.resources++);
      problem_.tasks[rest].deps.push_back({gather, Duration(0)});
      problem_.tasks[rest].deps.push_back({alone, Duration(0)});
      rests_[run].push_back(rest);
    }
  }
  holdRuns(c, byChunk);
  if (!byChunk.empty())
    gathered_[c] = std::move(byChunk);
}

void StepBound::linkRests() {
  if (rests_.empty())
    return;
  for (sched::Task &task : problem_.tasks) {
    const std::size_t count = task.deps.size();
    for (std::size_t d = 0; d < count; ++d)
      if (auto at = rests_.find(task.deps[d].on); at != rests_.end())
        for (sched::TaskId rest : at->second)
          task.deps.push_back({rest, task.deps[d].lag});
  }
}

sched::TaskId StepBound::lengthAfter(RankClassId c, Duration length) {
  sched::TaskId &node = lengths_[{c, length}];
  if (!node.isValid()) {
    node = add(length, problem_.resources++);
    problem_.tasks[node].deps.push_back({updates_[c.index()], Duration(0)});
  }
  return node;
}

void StepBound::holdRuns(RankClassId c,
                         const std::map<std::int32_t, Gathered> &byChunk) {
  if (byChunk.empty())
    return;
  const RankProgram &rankClass = set_.classes[c];
  using Held = std::pair<std::int32_t, const Gathered *>; // chunk
  std::unordered_map<std::int32_t, std::vector<Held>> byMicroBatch;
  for (const Task &task : rankClass.tasks)
    if (task.kind == TaskKind::Run && task.pass == PassKind::Forward)
      if (auto at = byChunk.find(task.chunk); at != byChunk.end()) {
        std::vector<Held> &held = byMicroBatch[task.microBatch];
        if (const Held own(task.chunk, &at->second);
            std::find(held.begin(), held.end(), own) == held.end())
          held.push_back(own);
      }
  for (TaskId id : rankClass.tasks.ids()) {
    const Task &task = rankClass.tasks[id];
    auto at = byMicroBatch.find(task.microBatch);
    if (task.kind != TaskKind::Run || at == byMicroBatch.end() ||
        task.pass == PassKind::Update)
      continue;
    const sched::TaskId run = nodes_[c.index()][id.index()];
    // What a run uses itself it may begin without.
    Duration before(0);
    const Gathered *own = nullptr;
    for (const auto &[chunk, gathered] : at->second)
      if (task.pass != PassKind::Forward || chunk < task.chunk)
        before += gathered->load;
      else if (chunk == task.chunk)
        own = gathered;
    // Made first: the table of tasks may move when it grows.
    const sched::TaskId held = lengthAfter(c, before);
    problem_.tasks[run].deps.push_back({held, Duration(0)});
    if (own)
      rests_[run].push_back(lengthAfter(c, before + own->load + own->rest));
  }
}

void StepBound::linkTransfers() {
  for (const Transfer &transfer : program_.transfers)
    problem_.tasks[nodes_[transfer.to][transfer.recv]].deps.push_back(
        {nodes_[transfer.from][transfer.send],
         costs_.tasks[transfer.from][transfer.send].duration});
}

void StepBound::linkOrder() {
  for (RankClassId c : set_.classes.ids()) {
    sched::TaskId before;
    for (TaskId id : set_.classes[c].tasks.ids()) {
      const sched::TaskId node = nodes_[c.index()][id.index()];
      if (set_.classes[c].tasks[id].stream != program::Stream::Compute ||
          !node.isValid())
        continue;
      std::vector<sched::Dependence> &deps = problem_.tasks[node].deps;
      if (before.isValid()) {
        deps.push_back({before, Duration(0)});
        if (auto at = rests_.find(before); at != rests_.end())
          for (sched::TaskId rest : at->second)
            deps.push_back({rest, Duration(0)});
      }
      before = node;
    }
    holdFirsts(c);
  }
}

bool StepBound::comesAfterUpdate(const Transfer &transfer) const {
  const auto updateOf = [&](std::size_t rankClass) {
    return problem_.tasks[updates_[rankClass]].duration;
  };
  Duration run(0);
  const RankProgram &sender = set_.classes[RankClassId(transfer.from)];
  for (TaskId dep : sender.tasks[TaskId(transfer.send)].deps)
    if (const Task &task = sender.tasks[dep]; task.kind == TaskKind::Run)
      run = std::max(run, blockOf(task).least);
  return updateOf(transfer.from) + run >= updateOf(transfer.to);
}

void StepBound::holdFirsts(RankClassId c) {
  const auto at = gathered_.find(c);
  if (at == gathered_.end() || !meet_)
    return;
  const RankProgram &rankClass = set_.classes[c];
  std::map<std::int32_t, Gathered> left = at->second;
  Duration load(0);
  LinkUse use;
  for (TaskId id : rankClass.tasks.ids()) {
    const Task &task = rankClass.tasks[id];
    if (left.empty())
      return;
    if (task.kind != TaskKind::Run || task.pass == PassKind::Update)
      continue;
    for (TaskId dep : task.deps)
      if (rankClass.tasks[dep].kind == TaskKind::Recv &&
          contention_ == Contention::On) {
        const Transfer &transfer =
            program_.transfers
                [program_.classes[c.index()].tasks[dep.index()].match];
        const OpCost &cost = costs_.tasks[transfer.from][transfer.send];
        if (comesAfterUpdate(transfer))
          use.add(useOf(cost, cost.duration - cost.latency));
      }
    const auto own = left.find(task.chunk);
    if (task.pass != PassKind::Forward || own == left.end())
      continue;
    Duration begin = std::max(load, use.most());
    load += own->second.load;
    use.add(own->second.use);
    // It begins without its own and holds its stream till it has ended. Of two
    // passes together the other may complete gradients after an early begin.
    if (task.withChunk < 0)
      begin = std::max(begin, std::max(load, use.most()) + own->second.rest -
                                  blockOf(task).least);
    left.erase(own);
    const sched::TaskId held = lengthAfter(c, begin);
    problem_.tasks[nodes_[c.index()][id.index()]].deps.push_back(
        {held, Duration(0)});
  }
}

LowerBounds stepLowerBounds(const Simulator &simulator, Contention contention) {
  return StepBound(simulator, contention).find();
}

} // namespace planc::sim
