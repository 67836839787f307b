// Rules of a ProgramSet.
//
//   P1  every id names something that exists
//   P2  dependences point backwards
//   P3  every Send has one Recv: same tag, each the other's peer, equal bytes
//   P4  a piece hangs on a Run; a reduction's `then` comes later and follows
//   one
//       piece only
//   P5  a gather is used by instructions that exist, in Runs
//   P6  sizes, bytes, work and durations are not negative; a message's sizes
//   and
//       strides go together
//   P7  Runs are on the compute stream, Sends and Recvs on their own
//   P8  a collective of several classes is there once in each, with equal bytes
//   P9  reductions reduce, gathers gather
#include "runtime/program/ProgramSet.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace planc::program {

namespace {

class Verifier {
public:
  explicit Verifier(const ProgramSet &set) : set_(set) {}

  std::vector<std::string> verify() {
    check(set_.accelerators > 0 && set_.microBatches > 0, 6, "the program",
          "has no accelerators or no micro-batches");
    for (const Block &block : set_.blocks)
      verifyBlock(block);
    for (RankClassId id : set_.classes.ids())
      verifyClass(set_.classes[id]);
    verifyTransfers();
    verifyJoint();
    return std::move(broken_);
  }

private:
  void check(bool holds, int rule, const std::string &where,
             std::string_view what) {
    if (!holds)
      broken_.push_back(fmt::format("P{} {}: {}", rule, where, what));
  }

  void verifyBlock(const Block &block) {
    for (std::size_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction &instruction = block.instructions[i];
      std::string where =
          fmt::format("block `{}` instruction {}", block.name, i);
      for (std::uint32_t dep : instruction.deps)
        check(dep < i, 2, where, fmt::format("depends on {}", dep));
      verifyWork(instruction.work, where);
      verifyMessage(instruction.message, instruction.duration, where);
    }
  }

  void verifyWork(const Work &work, const std::string &where) {
    std::int64_t least = std::min(
        {work.batch, work.m, work.n, work.k, work.keyHeads, work.flops.value,
         work.modelFlops.value, work.modelFlopsFull.value, work.bytesRead.value,
         work.bytesWritten.value, work.bytesAfter.value,
         std::int64_t(work.kernels), work.hostWait.value});
    check(least >= 0, 6, where, "has negative work");
  }

  void verifyMessage(const Message &message,
                     const std::optional<Duration> &duration,
                     const std::string &where) {
    check(message.bytes.value >= 0 && message.copies >= 0 && message.nodes >= 0,
          6, where, "has a negative message");
    check(message.sizes.size() == message.strides.size(), 6, where,
          "has sizes without strides");
    check(std::all_of(message.sizes.begin(), message.sizes.end(),
                      [](std::int64_t size) { return size > 0; }),
          6, where, "has an empty group");
    check(!duration || duration->value >= 0, 6, where,
          "has a negative duration");
  }

  void verifyClass(const RankProgram &rankClass) {
    check(rankClass.ranks > 0 && rankClass.first >= 0, 6,
          fmt::format("class `{}`", rankClass.name), "has no ranks");
    for (TaskId id : rankClass.tasks.ids())
      verifyTask(rankClass, id);
    verifyPieces(rankClass, rankClass.reduces, Piece::Kind::Reduce);
    verifyPieces(rankClass, rankClass.gathers, Piece::Kind::Gather);
  }

  void verifyTask(const RankProgram &rankClass, TaskId id) {
    const Task &task = rankClass.tasks[id];
    std::string where =
        fmt::format("class `{}` task {}", rankClass.name, id.index());
    for (TaskId dep : task.deps)
      check(dep < id, 2, where, fmt::format("depends on {}", dep.index()));
    verifyMessage(task.message, task.duration, where);
    switch (task.kind) {
    case TaskKind::Run:
      check(set_.blocks.contains(task.block), 1, where, "runs no block");
      check(task.stream == Stream::Compute, 7, where,
            "runs off the compute stream");
      break;
    case TaskKind::Send:
    case TaskKind::Recv:
      check(set_.classes.contains(task.peer), 1, where, "has no peer");
      check(task.stream ==
                (task.kind == TaskKind::Send ? Stream::Send : Stream::Recv),
            7, where, "is on a wrong stream");
      break;
    case TaskKind::Collective:
      break;
    }
  }

  void verifyPieces(const RankProgram &rankClass,
                    const Table<PieceId, Piece> &pieces, Piece::Kind kind) {
    bool reduce = kind == Piece::Kind::Reduce;
    std::vector<char> followed(pieces.size());
    for (PieceId id : pieces.ids()) {
      const Piece &piece = pieces[id];
      std::string where = fmt::format("class `{}` {} {}", rankClass.name,
                                      reduce ? "reduce" : "gather", id.index());
      check(piece.kind == kind, 9, where, "is of the other kind");
      check(reduce ? piece.collective == InstructionKind::AllReduce ||
                         piece.collective == InstructionKind::ReduceScatter
                   : piece.collective == InstructionKind::AllGather,
            9, where, "has another collective");
      verifyMessage(piece.message, std::nullopt, where);
      check(isRun(rankClass, piece.task), 4, where, "hangs on no run");
      for (const Piece::Use &use : piece.uses)
        check(hasInstruction(rankClass, use), 5, where,
              "has a use that is "
              "not there");
      verifyChain(piece, id, followed, where);
    }
  }

  void verifyChain(const Piece &piece, PieceId id, std::vector<char> &followed,
                   const std::string &where) {
    if (!piece.then.isValid())
      return;
    bool exists = piece.then.index() < followed.size();
    check(exists, 1, where, "is followed by no piece");
    if (!exists)
      return;
    check(piece.then > id, 4, where, "is followed by an earlier piece");
    check(!followed[piece.then.index()], 4, where, "shares its follower");
    followed[piece.then.index()] = 1;
  }

  bool isRun(const RankProgram &rankClass, TaskId id) const {
    return rankClass.tasks.contains(id) &&
           rankClass.tasks[id].kind == TaskKind::Run;
  }
  bool hasInstruction(const RankProgram &rankClass,
                      const Piece::Use &use) const {
    if (!isRun(rankClass, use.task))
      return false;
    BlockId block = rankClass.tasks[use.task].block;
    return set_.blocks.contains(block) &&
           use.instruction < set_.blocks[block].instructions.size();
  }

  /// One end of a transfer; both ends of one agree in from, to and tag.
  struct End {
    RankClassId from, to;
    std::int64_t tag;
    TaskKind kind;
    std::int64_t bytes;
    auto key() const { return std::tuple(from, to, tag); }
  };

  void verifyTransfers() {
    std::vector<End> ends;
    for (RankClassId id : set_.classes.ids())
      for (const Task &task : set_.classes[id].tasks) {
        std::int64_t bytes = task.message.bytes.value;
        if (task.kind == TaskKind::Send)
          ends.push_back({id, task.peer, task.tag, task.kind, bytes});
        if (task.kind == TaskKind::Recv)
          ends.push_back({task.peer, id, task.tag, task.kind, bytes});
      }
    std::stable_sort(ends.begin(), ends.end(), [](const End &a, const End &b) {
      return a.key() < b.key();
    });
    for (std::size_t i = 0; i < ends.size();) {
      std::size_t last = i;
      while (last < ends.size() && ends[last].key() == ends[i].key())
        ++last;
      bool pair = last - i == 2 && ends[i].kind != ends[i + 1].kind &&
                  ends[i].bytes == ends[i + 1].bytes;
      check(pair, 3,
            fmt::format("transfer {} from class {} to class {}", ends[i].tag,
                        ends[i].from.index(), ends[i].to.index()),
            "is not one send and one receive of the same bytes");
      i = last;
    }
  }

  void verifyJoint() {
    struct Member {
      std::int64_t tag;
      RankClassId rankClass;
      std::int64_t bytes;
    };
    std::vector<Member> members;
    for (RankClassId id : set_.classes.ids())
      for (const Task &task : set_.classes[id].tasks)
        if (task.kind == TaskKind::Collective && task.tag >= 0)
          members.push_back({task.tag, id, task.message.bytes.value});
    std::stable_sort(
        members.begin(), members.end(),
        [](const Member &a, const Member &b) { return a.tag < b.tag; });
    for (std::size_t i = 1; i < members.size(); ++i) {
      if (members[i].tag != members[i - 1].tag)
        continue;
      std::string where = fmt::format("collective {}", members[i].tag);
      check(members[i].rankClass != members[i - 1].rankClass, 8, where,
            "is there twice in one class");
      check(members[i].bytes == members[i - 1].bytes, 8, where,
            "has members of different bytes");
    }
  }

  const ProgramSet &set_;
  std::vector<std::string> broken_;
};

} // namespace

std::vector<std::string> verify(const ProgramSet &set) {
  return Verifier(set).verify();
}

} // namespace planc::program
