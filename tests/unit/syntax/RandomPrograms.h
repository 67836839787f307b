// Sound programs with every kind of line and field, at random.
#pragma once

#include "runtime/program/ProgramSet.h"

#include <random>

namespace planc::test {

using namespace planc::program;

class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random_(seed) {}

  ProgramSet make() {
    set_.name = name();
    set_.accelerators = between(1, 4096);
    set_.microBatches = static_cast<std::int32_t>(between(1, 64));
    set_.stepEnd =
        chance(2) ? ProgramSet::StepEnd::Free : ProgramSet::StepEnd::Joined;
    for (std::int64_t i = between(1, 4); i > 0; --i)
      set_.blocks.add(makeBlock());
    for (std::int64_t i = between(1, 4); i > 0; --i)
      set_.classes.add(makeClass());
    for (std::int64_t i = between(0, 6); i > 0; --i)
      addTransfer();
    for (std::int64_t i = between(0, 2); i > 0; --i)
      addJoint(i);
    return set_;
  }

private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(
                     random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(std::int64_t oneIn) { return between(1, oneIn) == 1; }
  /// Small, or as large as there is.
  std::int64_t size() {
    return chance(8) ? 0x7fff'ffff'ffff'ffff : between(0, 1 << 20);
  }
  template <class E> E any(E last) {
    return static_cast<E>(between(0, static_cast<std::int64_t>(last)));
  }
  std::string name() {
    static const std::string kPieces[] = {"decoder.", "wq",  "\"", "\\",
                                          "\n",       "é…",  " ",  "#",
                                          "{",        "\\n", "\t", "]"};
    std::string out;
    for (std::int64_t i = between(0, 6); i > 0; --i)
      out += kPieces[between(0, 11)];
    return out;
  }
  std::optional<Duration> duration() {
    return chance(2) ? std::optional(Duration(size())) : std::nullopt;
  }

  Message message() {
    Message out;
    out.bytes = Bytes(size());
    for (std::int64_t i = between(0, 3); i > 0; --i) {
      out.sizes.push_back(between(1, 512));
      out.strides.push_back(between(-8, 512));
    }
    out.kind = any(CommunicationKind::Norm);
    return out;
  }

  Work work() {
    Work out;
    out.precision = any(Precision::Int8);
    out.batch = size();
    out.m = size();
    out.n = size();
    out.k = size();
    out.keyHeads = chance(2) ? size() : 0;
    out.flops = Flops(size());
    out.modelFlops = Flops(size());
    out.modelFlopsFull = Flops(size());
    out.bytesRead = Bytes(size());
    out.bytesWritten = Bytes(size());
    out.kernels = static_cast<std::int32_t>(between(0, 3));
    return out;
  }

  Block makeBlock() {
    Block block;
    block.name = name();
    for (std::int64_t i = 0, count = between(0, 8); i < count; ++i) {
      Instruction one;
      one.kind = any(InstructionKind::Recv);
      one.stream = any(Stream::Recv);
      one.phase = any(Phase::Update);
      if (classOf(one.kind) == InstructionClass::Compute)
        one.work = work();
      else
        one.message = message();
      one.duration = duration();
      for (std::int64_t dep = 0; dep < i; ++dep)
        if (chance(3))
          one.deps.push_back(static_cast<std::uint32_t>(dep));
      one.name = name();
      block.instructions.push_back(one);
    }
    return block;
  }

  RankProgram makeClass() {
    RankProgram rankClass;
    rankClass.name = name();
    rankClass.ranks = between(1, 1 << 14);
    rankClass.first = between(0, 1 << 14);
    if (chance(2))
      rankClass.memory = memory();
    for (std::int64_t i = between(1, 6); i > 0; --i) {
      Task run;
      run.block = BlockId(static_cast<std::size_t>(
          between(0, static_cast<std::int64_t>(set_.blocks.size()) - 1)));
      run.pass = any(PassKind::Update);
      run.microBatch = static_cast<std::int32_t>(between(-1, 9));
      run.chunk = static_cast<std::int32_t>(between(-1, 9));
      addTask(rankClass, run);
    }
    addPieces(rankClass);
    return rankClass;
  }

  Memory memory() {
    Memory out;
    for (Bytes *part :
         {&out.parameters, &out.gradients, &out.optimizer, &out.activations,
          &out.gathered, &out.buffers, &out.logits, &out.workspace})
      *part = Bytes(between(0, std::int64_t(1) << 40));
    return out;
  }

  void addTask(RankProgram &rankClass, Task task) {
    for (TaskId id : rankClass.tasks.ids())
      if (chance(4))
        task.deps.push_back(id);
    task.name = name();
    task.duration = duration();
    rankClass.tasks.add(task);
  }

  Piece piece(const RankProgram &rankClass) {
    Piece out;
    out.message = message();
    out.task = TaskId(static_cast<std::size_t>(
        between(0, static_cast<std::int64_t>(rankClass.tasks.size()) - 1)));
    out.instruction = static_cast<std::uint32_t>(between(0, 9));
    out.layer = static_cast<std::int32_t>(between(-1, 100));
    out.name = name();
    return out;
  }

  void addPieces(RankProgram &rankClass) {
    for (std::int64_t i = 0, count = between(0, 3); i < count; ++i) {
      Piece reduce = piece(rankClass);
      if (chance(2))
        reduce.collective = InstructionKind::ReduceScatter;
      if (i + 1 < count && chance(2))
        reduce.then = PieceId(static_cast<std::size_t>(i + 1));
      rankClass.reduces.add(reduce);
      Piece gather = piece(rankClass);
      gather.kind = Piece::Kind::Gather;
      gather.collective = InstructionKind::AllGather;
      for (TaskId id : rankClass.tasks.ids()) {
        const Block &block = set_.blocks[rankClass.tasks[id].block];
        for (std::size_t at = 0; at < block.instructions.size(); ++at)
          if (chance(4))
            gather.uses.push_back({id, static_cast<std::uint32_t>(at)});
      }
      rankClass.gathers.add(gather);
    }
  }

  RankClassId anyClass() {
    return RankClassId(static_cast<std::size_t>(
        between(0, static_cast<std::int64_t>(set_.classes.size()) - 1)));
  }

  void addTransfer() {
    Task task;
    RankClassId from = anyClass(), to = anyClass();
    task.message = message();
    task.tag = tag_++;
    task.kind = TaskKind::Send;
    task.stream = Stream::Send;
    task.peer = to;
    addTask(set_.classes[from], task);
    task.kind = TaskKind::Recv;
    task.stream = Stream::Recv;
    task.peer = from;
    addTask(set_.classes[to], task);
  }

  void addJoint(std::int64_t tag) {
    Task task;
    task.kind = TaskKind::Collective;
    task.message = message();
    task.stream = any(Stream::Recv);
    task.tag = tag;
    for (RankProgram &rankClass : set_.classes)
      addTask(rankClass, task);
  }

  std::mt19937_64 random_;
  ProgramSet set_;
  std::int64_t tag_ = 0;
};

} // namespace planc::test
