// Random programs that touch every rule of the engine, deterministic by seed.
#pragma once

#include "runtime/sim/Engine.h"

#include <algorithm>
#include <random>

namespace planc::test {

inline sim::OpCost kernelOf(std::int64_t duration) {
  sim::OpCost cost;
  cost.duration = Duration(duration);
  return cost;
}

/// All of the link of the first level.
inline sim::OpCost messageOf(std::int64_t duration) {
  sim::OpCost cost = kernelOf(duration);
  cost.links[0] = 1'000'000;
  return cost;
}

using namespace planc::program;

/// What a random program may hold.
struct RandomShape {
  bool collectives = true; ///< in blocks, on other streams than compute
  bool zeroDurations = true;
  /// Blocks leave the streams of buckets and tasks alone, and no collective
  /// joins classes: the order on every stream stands in the program.
  bool ownStreams = false;
};

struct RandomProgram {
  ProgramSet set;
  sim::Costs costs;
};

class RandomPrograms {
public:
  RandomPrograms(std::uint32_t seed, RandomShape shape)
      : random_(seed), shape_(shape) {}

  RandomProgram make() {
    RandomProgram out;
    out.set.stepEnd =
        chance(70) ? ProgramSet::StepEnd::Joined : ProgramSet::StepEnd::Free;
    out.costs.units = 132;
    int blocks = between(2, 4);
    for (int i = 0; i < blocks; ++i)
      addBlock(out);
    addUpdate(out);
    int ranks = between(1, 4);
    norm_ = chance(30) && !shape_.ownStreams;
    tied_ = chance(40) && !shape_.ownStreams;
    for (int r = 0; r < ranks; ++r)
      addClass(out, r, ranks);
    addBucketCosts(out);
    return out;
  }

private:
  int between(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  Duration duration() {
    if (shape_.zeroDurations && chance(15))
      return Duration(0);
    return Duration(between(1, 1000));
  }

  sim::OpCost kernelCost() {
    sim::OpCost cost;
    cost.duration = duration();
    cost.bound = chance(60) ? cost::Bound::Arithmetic : cost::Bound::Memory;
    cost.memoryShare = between(100'000, 1'000'000);
    return cost;
  }

  sim::OpCost messageCost(int levels) {
    sim::OpCost cost;
    cost.duration = duration();
    if (chance(60))
      cost.units = between(1, 40);
    if (chance(40))
      cost.memoryShare = between(10'000, 300'000);
    for (int level = 0; level < levels; ++level)
      if (chance(60))
        cost.links[static_cast<std::size_t>(level)] =
            between(100'000, 1'000'000);
    return cost;
  }

  void addBlock(RandomProgram &out) {
    Block block{"block", {}};
    std::vector<sim::OpCost> &costs = out.costs.instructions.emplace_back();
    int count = between(1, 9);
    for (int i = 0; i < count; ++i) {
      Instruction instruction;
      bool kernel = !shape_.collectives || chance(65);
      if (!kernel) {
        instruction.kind = InstructionKind::AllGather;
        constexpr Stream kStreams[] = {Stream::Tensor, Stream::Tensor,
                                       Stream::Gradients, Stream::Parameters,
                                       Stream::Compute};
        instruction.stream = kStreams[between(0, shape_.ownStreams ? 1 : 4)];
        instruction.message.kind = CommunicationKind::Tensor;
      }
      for (int dep = 0; dep < i; ++dep)
        if (chance(35))
          instruction.deps.push_back(static_cast<std::uint32_t>(dep));
      costs.push_back(kernel ? kernelCost() : messageCost(2));
      block.instructions.push_back(instruction);
    }
    out.set.blocks.add(block);
  }

  void addUpdate(RandomProgram &out) {
    Instruction kernel;
    kernel.kind = InstructionKind::Update;
    out.costs.instructions.push_back({kernelCost()});
    update_ = out.set.blocks.add({"update", {kernel}});
  }

  /// Forwards down the classes, backwards up, in one order that can run.
  void addClass(RandomProgram &out, int rank, int ranks) {
    RankProgram program;
    program.name = "class " + std::to_string(rank);
    std::vector<sim::OpCost> &costs = out.costs.tasks.emplace_back();
    constexpr int kMicros = 3;
    for (int pass = 0; pass < 2; ++pass)
      for (int micro = 0; micro < kMicros; ++micro) {
        int from = pass == 0 ? rank - 1 : rank + 1;
        int to = pass == 0 ? rank + 1 : rank - 1;
        Task run;
        run.block = BlockId(pickBlock(out));
        run.pass = pass == 0 ? PassKind::Forward : PassKind::Backward;
        run.microBatch = micro;
        if (from >= 0 && from < ranks)
          run.deps.push_back(add(
              program, costs, transfer(TaskKind::Recv, from, pass, micro), {}));
        TaskId id = add(program, costs, run, {});
        addOwnCollective(program, costs, id);
        if (to >= 0 && to < ranks) {
          Task send = transfer(TaskKind::Send, to, pass, micro);
          send.deps.push_back(id);
          sim::OpCost cost = messageCost(3);
          cost.units = cost.memoryShare = 0;
          if (chance(50))
            cost.latency = cost.duration / 3;
          add(program, costs, send, cost);
        }
      }
    finishClass(out, program, costs, rank, ranks);
    out.set.classes.add(program);
  }

  /// A collective of the class's own beside its runs.
  void addOwnCollective(RankProgram &program, std::vector<sim::OpCost> &costs,
                        TaskId after) {
    if (shape_.ownStreams || !chance(20))
      return;
    Task own = collective(-1, CommunicationKind::Parameters);
    constexpr Stream kStreams[] = {Stream::Tensor, Stream::Gradients,
                                   Stream::Parameters, Stream::Compute};
    own.stream = kStreams[between(0, 3)];
    if (chance(80))
      own.deps.push_back(after);
    add(program, costs, own, messageCost(3));
  }

  std::size_t pickBlock(const RandomProgram &out) {
    return static_cast<std::size_t>(
        between(0, static_cast<int>(out.set.blocks.size()) - 2));
  }

  static TaskId add(RankProgram &program, std::vector<sim::OpCost> &costs,
                    Task task, sim::OpCost cost) {
    costs.push_back(cost);
    return program.tasks.add(std::move(task));
  }

  static Task transfer(TaskKind kind, int peer, int pass, int micro) {
    Task task;
    task.kind = kind;
    task.stream = kind == TaskKind::Send ? Stream::Send : Stream::Recv;
    task.peer = RankClassId(static_cast<std::size_t>(peer));
    task.tag = 10 * micro + pass;
    return task;
  }

  void finishClass(RandomProgram &out, RankProgram &program,
                   std::vector<sim::OpCost> &costs, int rank, int ranks) {
    addPieces(out, program);
    if (tied_ && ranks > 1 && (rank == 0 || rank == ranks - 1)) {
      Task tied = collective(1000, CommunicationKind::Gradients);
      // After the last backward, lest a block wait for a stream that waits
      // for another class.
      for (TaskId id : program.tasks.ids())
        if (program.tasks[id].kind == TaskKind::Run)
          tied.deps = {id};
      add(program, costs, tied, messageCost(3));
    }
    Task update;
    update.block = update_;
    update.pass = PassKind::Update;
    if (norm_) {
      Task norm = collective(1001, CommunicationKind::Norm);
      update.deps.push_back(add(program, costs, norm, messageCost(3)));
    }
    TaskId id = add(program, costs, update, {});
    addGathers(out, program, id);
  }

  static Task collective(std::int64_t tag, CommunicationKind kind) {
    Task task;
    task.kind = TaskKind::Collective;
    task.stream = Stream::Gradients;
    task.tag = tag;
    task.message.kind = kind;
    return task;
  }

  void addPieces(const RandomProgram &out, RankProgram &program) {
    for (TaskId id : program.tasks.ids()) {
      const Task &task = program.tasks[id];
      if (task.kind != TaskKind::Run || task.pass != PassKind::Backward)
        continue;
      int count =
          static_cast<int>(out.set.blocks[task.block].instructions.size());
      for (int i = 0; i <= count; ++i)
        if (chance(40)) {
          Piece piece;
          piece.message.bytes = Bytes(between(1, 5) << 20);
          piece.message.kind = CommunicationKind::Gradients;
          piece.task = id;
          piece.instruction = static_cast<std::uint32_t>(i);
          program.reduces.add(piece);
        }
    }
    addChain(program);
  }

  /// The last piece is followed by another, over a second group.
  void addChain(RankProgram &program) {
    if (program.reduces.empty() || !chance(30))
      return;
    Piece second = program.reduces[PieceId(program.reduces.size() - 1)];
    second.message.sizes = {2};
    second.message.strides = {1};
    PieceId id = program.reduces.add(second);
    program.reduces[PieceId(id.index() - 1)].then = id;
  }

  void addGathers(const RandomProgram &out, RankProgram &program,
                  TaskId update) {
    if (!chance(50))
      return;
    for (TaskId id : program.tasks.ids()) {
      const Task &task = program.tasks[id];
      if (task.kind != TaskKind::Run || task.pass != PassKind::Forward ||
          chance(40))
        continue;
      int count =
          static_cast<int>(out.set.blocks[task.block].instructions.size());
      Piece piece;
      piece.kind = Piece::Kind::Gather;
      piece.collective = InstructionKind::AllGather;
      piece.message.bytes = Bytes(between(1, 5) << 20);
      piece.message.kind = CommunicationKind::Parameters;
      piece.task = update;
      piece.uses = {{id, static_cast<std::uint32_t>(between(0, count - 1))}};
      program.gathers.add(piece);
    }
  }

  void addBucketCosts(RandomProgram &out) {
    sim::OpCost like = messageCost(3);
    std::int64_t perMebibyte = between(1, 400);
    out.costs.bucket = [like, perMebibyte](const RankProgram &, const Piece &,
                                           Bytes bytes) {
      sim::OpCost cost = like;
      cost.duration = Duration(20 + bytes.value * perMebibyte / (1 << 20));
      return cost;
    };
  }

  std::mt19937 random_;
  RandomShape shape_;
  BlockId update_;
  bool norm_ = false, tied_ = false;
};

/// The same, about half of the reductions held for any pass of their class.
inline sim::IssueOrder withHolds(sim::IssueOrder order, const ProgramSet &set,
                                 std::uint32_t seed) {
  std::mt19937 lot(seed);
  for (RankClassId id : set.classes.ids()) {
    std::vector<TaskId> passes;
    for (TaskId task : set.classes[id].tasks.ids())
      if (set.classes[id].tasks[task].kind == TaskKind::Run &&
          set.classes[id].tasks[task].pass != PassKind::Update)
        passes.push_back(task);
    for (timeline::Bucket &bucket : order.classes[id].reduces)
      if (bucket.after == timeline::Bucket::kNone && lot() % 2 == 0)
        bucket.hold = passes[lot() % passes.size()];
  }
  return order;
}

} // namespace planc::test
