#include "runtime/sim/Bound.h"

#include "runtime/sched/Algorithms.h"
#include "runtime/sched/Chains.h"
#include "runtime/sim/CompiledProgram.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

namespace planc::sim {

using program::PassKind;
using program::Piece;
using program::RankClassId;
using program::RankProgram;
using program::Task;
using program::TaskId;
using program::TaskKind;

namespace {

struct BlockBound {
  Duration work;               ///< of kernels on the compute stream
  Duration least;              ///< of a run: work, or the longest chain
  std::vector<Duration> ready; ///< of an instruction, after the run's begin
  std::vector<Duration> left;  ///< from an instruction's begin to the run's end
};

BlockBound boundOf(const program::Block &block,
                   const std::vector<OpCost> &costs) {
  BlockBound out;
  for (std::size_t i = 0; i < block.instructions.size(); ++i) {
    const program::Instruction &instruction = block.instructions[i];
    Duration begin(0);
    for (std::uint32_t dep : instruction.deps)
      begin = std::max(begin, out.ready[dep]);
    out.ready.push_back(begin + costs[i].duration);
    out.least = std::max(out.least, out.ready.back());
    if (instruction.stream == program::Stream::Compute)
      out.work += costs[i].duration;
  }
  out.least = std::max(out.least, out.work);
  out.left.resize(block.instructions.size());
  for (std::size_t i = block.instructions.size(); i-- > 0;) {
    out.left[i] += costs[i].duration;
    for (std::uint32_t dep : block.instructions[i].deps)
      out.left[dep] = std::max(out.left[dep], out.left[i]);
  }
  return out;
}

/// Pieces of one collective over one group, and what a bucket of all of them
/// takes. A bucket's cost per byte falls with its size, so a set of pieces
/// takes its share of that at least, however it is cut.
class PieceLoads {
public:
  PieceLoads(const Costs &costs, const RankProgram &rankClass,
             const Table<program::PieceId, Piece> &pieces) {
    for (const Piece &piece : pieces) {
      Sum &sum = groups_[keyOf(piece)];
      sum.like = &piece;
      if (__builtin_add_overflow(sum.bytes, piece.message.bytes.value,
                                 &sum.bytes))
        sum.bytes = std::numeric_limits<std::int64_t>::max();
    }
    for (auto &[key, sum] : groups_)
      sum.load = costs.bucket(rankClass, *sum.like, Bytes(sum.bytes)).duration;
  }

  Duration shareOf(const Piece &piece) const {
    const Sum &sum = groups_.at(keyOf(piece));
    return Duration(static_cast<std::int64_t>(
        Int128(sum.load.value) * piece.message.bytes.value /
        std::max<std::int64_t>(1, sum.bytes)));
  }

private:
  using Key = std::tuple<program::InstructionKind, std::vector<std::int64_t>,
                         std::vector<std::int64_t>>;
  static Key keyOf(const Piece &piece) {
    return {piece.collective, piece.message.sizes, piece.message.strides};
  }
  struct Sum {
    const Piece *like = nullptr;
    std::int64_t bytes = 0;
    Duration load;
  };
  std::map<Key, Sum> groups_;
};

/// Whether the updates of all classes begin together.
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

/// One step from meeting to meeting: every rank's update, then its runs.
class StepBound {
public:
  explicit StepBound(const Simulator &simulator)
      : set_(simulator.set()), costs_(simulator.costs()),
        transfers_(simulator.program().transfers) {
    for (program::BlockId id : set_.blocks.ids())
      blocks_.push_back(
          boundOf(set_.blocks[id], costs_.instructions[id.index()]));
  }

  Duration find() {
    Duration bound(0);
    for (const RankProgram &rankClass : set_.classes)
      bound = std::max(bound, loadOf(rankClass));
    if (!allMeet(set_))
      return bound;
    for (RankClassId c : set_.classes.ids())
      addClass(c);
    linkTransfers();
    for (RankClassId c : set_.classes.ids())
      linkGathers(c);
    linkRests();
    const sched::Chains chains = sched::chainsOf(problem_);
    bound = std::max(bound, sched::lowerBound(problem_, chains));
    for (RankClassId c : set_.classes.ids())
      bound = std::max(bound, reductionsEnd(c, chains));
    return bound;
  }

private:
  const BlockBound &blockOf(const Task &task) const {
    return blocks_[task.block.index()];
  }

  Duration loadOf(const RankProgram &rankClass) const {
    Duration load(0);
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Run)
        load += blockOf(task).work;
    return load;
  }

  sched::TaskId add(Duration duration, std::size_t resource) {
    sched::Task task;
    task.duration = duration;
    task.resource = sched::ResourceId(resource);
    return problem_.tasks.add(task);
  }

  void addClass(RankClassId c) {
    const RankProgram &rankClass = set_.classes[c];
    Duration update(0);
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Run && task.pass == PassKind::Update)
        update += blockOf(task).work;
    sched::TaskId first = add(update, problem_.resources++);
    std::size_t compute = problem_.resources++;
    std::vector<sched::TaskId> &nodes = nodes_.emplace_back();
    for (TaskId id : rankClass.tasks.ids()) {
      const Task &task = rankClass.tasks[id];
      bool run = task.kind == TaskKind::Run;
      // The update of this step begins at the next meeting.
      if (run && task.pass == PassKind::Update) {
        nodes.emplace_back();
        continue;
      }
      Duration own = task.kind == TaskKind::Collective
                         ? costs_.tasks[c.index()][id.index()].duration
                         : Duration(0);
      sched::TaskId node = run ? add(blockOf(task).least, compute)
                               : add(own, problem_.resources++);
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

  /// A backward reads what the forward of its micro-batch kept, a pass for
  /// weights what the backward did: whatever order a stream has.
  void linkPasses(const RankProgram &rankClass,
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

  /// Gathers follow the update one after the other; a run cannot end before
  /// what it does from their first use on.
  void linkGathers(RankClassId c) {
    const RankProgram &rankClass = set_.classes[c];
    const PieceLoads loads(costs_, rankClass, rankClass.gathers);
    const std::size_t link = problem_.resources++;
    // What the first forward of a chunk waits for, all of them do.
    std::map<std::int32_t, Duration> byChunk;
    const std::map<TaskId, std::int32_t> firsts = firstForwards(rankClass);
    for (const Piece &piece : rankClass.gathers) {
      for (const Piece::Use &use : piece.uses)
        if (auto at = firsts.find(use.task); at != firsts.end()) {
          byChunk[at->second] += loads.shareOf(piece);
          break;
        }
      const sched::TaskId gather = add(loads.shareOf(piece), link);
      problem_.tasks[gather].deps.push_back({updates_[c.index()], Duration(0)});
      for (const Piece::Use &use : piece.uses) {
        const sched::TaskId run = nodes_[c.index()][use.task.index()];
        const BlockBound &block = blockOf(rankClass.tasks[use.task]);
        if (!run.isValid() || use.instruction >= block.left.size())
          continue;
        const sched::TaskId rest =
            add(block.left[use.instruction], problem_.resources++);
        problem_.tasks[rest].deps.push_back({gather, Duration(0)});
        rests_[run].push_back(rest);
      }
    }
    holdRuns(c, byChunk);
  }

  /// What waits for a run waits for what it does after a gather, too.
  void linkRests() {
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

  static std::map<TaskId, std::int32_t>
  firstForwards(const RankProgram &rankClass) {
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

  /// A micro-batch goes through the chunks in order and comes back when it went
  /// through all: its runs have the gathers of all its forwards before them.
  void holdRuns(RankClassId c,
                const std::map<std::int32_t, Duration> &byChunk) {
    const RankProgram &rankClass = set_.classes[c];
    if (byChunk.empty())
      return;
    struct Held {
      std::int32_t chunk;
      Duration load;
    };
    std::unordered_map<std::int32_t, std::vector<Held>> byMicroBatch;
    for (const Task &task : rankClass.tasks)
      if (task.kind == TaskKind::Run && task.pass == PassKind::Forward)
        if (auto at = byChunk.find(task.chunk); at != byChunk.end()) {
          std::vector<Held> &held = byMicroBatch[task.microBatch];
          if (std::none_of(held.begin(), held.end(), [&](const Held &other) {
                return other.chunk == task.chunk;
              }))
            held.push_back({task.chunk, at->second});
        }
    std::map<Duration, sched::TaskId> nodes; // by length
    for (TaskId id : rankClass.tasks.ids()) {
      const Task &task = rankClass.tasks[id];
      auto at = byMicroBatch.find(task.microBatch);
      if (task.kind != TaskKind::Run || at == byMicroBatch.end() ||
          task.pass == PassKind::Update)
        continue;
      // What a run uses itself it may begin without.
      Duration before(0);
      for (const auto &[chunk, load] : at->second)
        if (task.pass != PassKind::Forward || chunk < task.chunk)
          before += load;
      sched::TaskId &node = nodes[before];
      if (!node.isValid()) {
        node = add(before, problem_.resources++);
        problem_.tasks[node].deps.push_back({updates_[c.index()], Duration(0)});
      }
      problem_.tasks[nodes_[c.index()][id.index()]].deps.push_back(
          {node, Duration(0)});
    }
  }

  void linkTransfers() {
    for (const Transfer &transfer : transfers_)
      problem_.tasks[nodes_[transfer.to][transfer.recv]].deps.push_back(
          {nodes_[transfer.from][transfer.send],
           costs_.tasks[transfer.from][transfer.send].duration});
  }

  /// A run that completes gradients of a chunk is the last of the chunk's: all
  /// others lie before it, none earlier than the first can begin, nor those of
  /// its pass before the first of its pass. By task; of what stands before it.
  std::vector<Duration> beforeCompletion(RankClassId c,
                                         const sched::Chains &chains) const {
    const RankProgram &rankClass = set_.classes[c];
    struct Kind {
      Duration work, first = Duration(std::numeric_limits<std::int64_t>::max());
      void add(Duration run, Duration head) {
        work += run;
        first = std::min(first, head);
      }
    };
    std::vector<Duration> out(rankClass.tasks.size());
    std::map<std::tuple<std::int32_t, PassKind>, Kind> passes;
    std::map<std::int32_t, Kind> chunks;
    for (TaskId id : rankClass.tasks.ids()) {
      const Task &task = rankClass.tasks[id];
      const sched::TaskId node = nodes_[c.index()][id.index()];
      if (task.kind != TaskKind::Run || !node.isValid())
        continue;
      Kind &pass = passes[{task.chunk, task.pass}];
      Kind &chunk = chunks[task.chunk];
      for (const Kind *kind : {&pass, &chunk})
        if (kind->work > Duration(0))
          out[id.index()] = std::max(out[id.index()], kind->first + kind->work);
      pass.add(blockOf(task).work, chains.head[node]);
      chunk.add(blockOf(task).work, chains.head[node]);
    }
    return out;
  }

  /// The link takes pieces after they are ready: of any set of them, the sum
  /// of their shares after the first is ready; each at least its own time.
  Duration reductionsEnd(RankClassId c, const sched::Chains &chains) const {
    const RankProgram &rankClass = set_.classes[c];
    const PieceLoads loads(costs_, rankClass, rankClass.reduces);
    const std::vector<Duration> runsBefore = beforeCompletion(c, chains);
    Duration end(0);
    std::vector<std::pair<Duration, Duration>> pieces; // ready, load
    std::vector<char> follows(rankClass.reduces.size());
    for (const Piece &piece : rankClass.reduces)
      if (piece.then.isValid())
        follows[piece.then.index()] = 1;
    for (program::PieceId id : rankClass.reduces.ids()) {
      const Piece &piece = rankClass.reduces[id];
      if (follows[id.index()])
        continue;
      const sched::TaskId run = nodes_[c.index()][piece.task.index()];
      const BlockBound &block = blockOf(rankClass.tasks[piece.task]);
      Duration ready = run.isValid() ? chains.head[run] : Duration(0);
      ready = std::max(ready, runsBefore[piece.task.index()]);
      ready += piece.instruction < block.ready.size()
                   ? block.ready[piece.instruction]
                   : block.least;
      end = std::max(
          end,
          ready +
              costs_.bucket(rankClass, piece, piece.message.bytes).duration);
      Duration load = loads.shareOf(piece);
      for (program::PieceId next = piece.then; next.isValid();
           next = rankClass.reduces[next].then)
        load += loads.shareOf(rankClass.reduces[next]);
      pieces.push_back({ready, load});
    }
    // Collectives of the same stream that the update waits for.
    for (const Task &update : rankClass.tasks)
      if (update.kind == TaskKind::Run && update.pass == PassKind::Update)
        for (TaskId dep : update.deps)
          if (const Task &task = rankClass.tasks[dep];
              task.kind == TaskKind::Collective &&
              task.stream == program::Stream::Gradients)
            pieces.push_back({chains.head[nodes_[c.index()][dep.index()]],
                              costs_.tasks[c.index()][dep.index()].duration});
    std::sort(pieces.begin(), pieces.end());
    Duration load(0);
    for (std::size_t i = pieces.size(); i-- > 0;) {
      load += pieces[i].second;
      end = std::max(end, pieces[i].first + load);
    }
    return end;
  }

  const program::ProgramSet &set_;
  const Costs &costs_;
  const std::vector<Transfer> &transfers_;
  std::vector<BlockBound> blocks_;
  sched::Problem problem_;
  std::vector<std::vector<sched::TaskId>> nodes_; ///< by class and task
  std::vector<sched::TaskId> updates_;            ///< by class
  /// Of runs, what they do from the first use of a gather on.
  std::map<sched::TaskId, std::vector<sched::TaskId>> rests_;
};

} // namespace

Duration stepLowerBound(const Simulator &simulator) {
  return StepBound(simulator).find();
}

} // namespace planc::sim
