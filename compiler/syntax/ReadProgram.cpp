#include "compiler/syntax/ReadProgram.h"

#include "compiler/diag/Kinds.h"
#include "compiler/syntax/ProgramFields.h"
#include "runtime/base/Checked.h"

#include <type_traits>

namespace planc::syntax {

namespace {

using antlr4::Token;
using diag::Kind;
using P = ProgramTextParser;
using namespace program;

#define PLANC_FIELD(Key, Member)                                               \
  {                                                                            \
    Key, [](FieldReader &reader, auto &line) { reader.into(line.Member); }     \
  }

constexpr FieldRule<ProgramSet> kProgramFields[] = {
    PLANC_FIELD("accelerators", accelerators),
    PLANC_FIELD("microbatches", microBatches),
    PLANC_FIELD("end", stepEnd),
};

constexpr FieldRule<RankProgram> kClassFields[] = {
    PLANC_FIELD("ranks", ranks),
    PLANC_FIELD("first", first),
};

constexpr FieldRule<Memory> kMemoryFields[] = {
    PLANC_FIELD("parameters", parameters),
    PLANC_FIELD("gradients", gradients),
    PLANC_FIELD("optimizer", optimizer),
    PLANC_FIELD("activations", activations),
    PLANC_FIELD("gathered", gathered),
    PLANC_FIELD("buffers", buffers),
    PLANC_FIELD("logits", logits),
    PLANC_FIELD("workspace", workspace),
    PLANC_FIELD("unreturned", unreturned),
    PLANC_FIELD("host", host),
};

/// What every instruction has.
constexpr FieldRule<Instruction> kInstructionFields[] = {
    PLANC_FIELD("name", name),   PLANC_FIELD("stream", stream),
    PLANC_FIELD("phase", phase), PLANC_FIELD("duration", duration),
    PLANC_FIELD("deps", deps),   PLANC_FIELD("makes", makes),
    PLANC_FIELD("frees", frees),
};

constexpr FieldRule<Instruction> kKernelFields[] = {
    PLANC_FIELD("precision", work.precision),
    PLANC_FIELD("batch", work.batch),
    PLANC_FIELD("m", work.m),
    PLANC_FIELD("n", work.n),
    PLANC_FIELD("k", work.k),
    PLANC_FIELD("keyheads", work.keyHeads),
    PLANC_FIELD("flops", work.flops),
    PLANC_FIELD("modelflops", work.modelFlops),
    PLANC_FIELD("fullflops", work.modelFlopsFull),
    PLANC_FIELD("read", work.bytesRead),
    PLANC_FIELD("written", work.bytesWritten),
    PLANC_FIELD("after", work.bytesAfter),
    PLANC_FIELD("kernels", work.kernels),
    PLANC_FIELD("hostwait", work.hostWait.value),
};

/// Of whatever has a Message.
template <class T>
constexpr FieldRule<T> kMessageFields[] = {
    PLANC_FIELD("bytes", message.bytes),
    PLANC_FIELD("sizes", message.sizes),
    PLANC_FIELD("strides", message.strides),
    PLANC_FIELD("for", message.kind),
    PLANC_FIELD("copies", message.copies),
    PLANC_FIELD("nodes", message.nodes),
};

/// What every task has.
constexpr FieldRule<Task> kTaskFields[] = {
    PLANC_FIELD("name", name),
    PLANC_FIELD("stream", stream),
    PLANC_FIELD("deps", deps),
    PLANC_FIELD("duration", duration),
};

constexpr FieldRule<Task> kRunFields[] = {
    PLANC_FIELD("block", block),
    PLANC_FIELD("pass", pass),
    PLANC_FIELD("micro", microBatch),
    PLANC_FIELD("chunk", chunk),
    PLANC_FIELD("withmicro", withMicroBatch),
    PLANC_FIELD("withchunk", withChunk),
};

constexpr FieldRule<Task> kTagField[] = {PLANC_FIELD("tag", tag)};
constexpr FieldRule<Task> kPeerField[] = {PLANC_FIELD("peer", peer)};

constexpr FieldRule<Piece> kPieceFields[] = {
    PLANC_FIELD("name", name),   PLANC_FIELD("collective", collective),
    PLANC_FIELD("task", task),   PLANC_FIELD("instruction", instruction),
    PLANC_FIELD("uses", uses),   PLANC_FIELD("then", then),
    PLANC_FIELD("layer", layer),
};

#undef PLANC_FIELD

/// Builds the set from a syntax tree without mistakes.
class ProgramBuilder {
public:
  ProgramBuilder(const ProgramSyntax &syntax, diag::Emitter &emitter)
      : syntax_(syntax), emitter_(emitter) {}

  ProgramSet build(const P::WholeContext &whole) {
    set_.name = text(whole.name);
    read(whole.fields, set_, {kProgramFields});
    for (const P::ItemContext *item : whole.items) {
      if (!item->kind)
        continue;
      if (item->kind->getType() == P::BLOCK)
        set_.blocks.add(buildBlock(*item));
      else
        set_.classes.add(buildClass(*item));
    }
    return std::move(set_);
  }

private:
  std::string text(const Token *token) {
    return unquoted(syntax_, token, emitter_);
  }
  template <class T>
  void read(const FieldContexts &fields, T &target,
            std::initializer_list<FieldRules<std::type_identity_t<T>>> tables) {
    readFields(syntax_, emitter_, fields, target, tables);
  }

  Block buildBlock(const P::ItemContext &item) {
    Block block;
    block.name = text(item.name);
    read(item.fields, block, {});
    for (const P::LineContext *line : item.lines) {
      if (!line->word)
        continue;
      Instruction instruction;
      if (auto kind = instructionKindFromName(syntax_.text(line->word))) {
        instruction.kind = *kind;
        readInstruction(*line, instruction);
      } else {
        reportWord(syntax_, line->word, "instruction", instructionNames(),
                   emitter_);
      }
      block.instructions.push_back(std::move(instruction));
    }
    return block;
  }

  void readInstruction(const P::LineContext &line, Instruction &instruction) {
    if (classOf(instruction.kind) == InstructionClass::Compute)
      read(line.fields, instruction, {kInstructionFields, kKernelFields});
    else
      read(line.fields, instruction,
           {kInstructionFields, kMessageFields<Instruction>});
  }

  RankProgram buildClass(const P::ItemContext &item) {
    RankProgram rankClass;
    rankClass.name = text(item.name);
    read(item.fields, rankClass, {kClassFields});
    hasMemory_ = false;
    for (const P::LineContext *line : item.lines)
      if (line->word)
        readClassLine(*line, rankClass);
    return rankClass;
  }

  void readClassLine(const P::LineContext &line, RankProgram &rankClass) {
    std::string_view word = syntax_.text(line.word);
    if (auto kind = taskKindFromName(word))
      rankClass.tasks.add(buildTask(*kind, line));
    else if (word == "reduce")
      rankClass.reduces.add(buildPiece(Piece::Kind::Reduce, line));
    else if (word == "gather")
      rankClass.gathers.add(buildPiece(Piece::Kind::Gather, line));
    else if (word == "memory")
      readMemory(line, rankClass.memory);
    else
      reportWord(
          syntax_, line.word, "line of a class",
          {"run", "send", "recv", "collective", "reduce", "gather", "memory"},
          emitter_);
  }

  Task buildTask(TaskKind kind, const P::LineContext &line) {
    Task task;
    task.kind = kind;
    switch (kind) {
    case TaskKind::Run:
      read(line.fields, task, {kTaskFields, kRunFields});
      break;
    case TaskKind::Send:
    case TaskKind::Recv:
      task.stream = kind == TaskKind::Send ? Stream::Send : Stream::Recv;
      read(line.fields, task,
           {kTaskFields, kTagField, kPeerField, kMessageFields<Task>});
      break;
    case TaskKind::Collective:
      read(line.fields, task, {kTaskFields, kTagField, kMessageFields<Task>});
      break;
    }
    return task;
  }

  Piece buildPiece(Piece::Kind kind, const P::LineContext &line) {
    Piece piece;
    piece.kind = kind;
    if (kind == Piece::Kind::Gather)
      piece.collective = InstructionKind::AllGather;
    read(line.fields, piece, {kPieceFields, kMessageFields<Piece>});
    return piece;
  }

  void readMemory(const P::LineContext &line, Memory &memory) {
    if (hasMemory_) {
      emitter_.report(syntax_.span(line.word), Kind::DuplicatePart,
                      "the class has a second `memory`");
      return;
    }
    hasMemory_ = true;
    read(line.fields, memory, {kMemoryFields});
    std::optional<std::int64_t> total = 0;
    for (Bytes part :
         {memory.parameters, memory.gradients, memory.optimizer,
          memory.activations, memory.gathered, memory.buffers, memory.logits,
          memory.workspace, memory.unreturned, memory.host}) {
      if (part < Bytes(0))
        emitter_.report(syntax_.span(line.word), Kind::ProgramValue,
                        "a part of the memory is negative");
      total = total ? checkedAdd(*total, part.value) : total;
    }
    if (!total)
      emitter_.report(syntax_.span(line.word), Kind::NumberTooLarge,
                      "the parts of the memory add up to more than 64 bits");
  }

  static std::vector<std::string_view> instructionNames() {
    std::vector<std::string_view> names;
    for (std::size_t i = 0;
         i <= static_cast<std::size_t>(InstructionKind::HostUpdate); ++i)
      names.push_back(toString(static_cast<InstructionKind>(i)));
    return names;
  }

  const ProgramSyntax &syntax_;
  diag::Emitter &emitter_;
  ProgramSet set_;
  bool hasMemory_ = false;
};

} // namespace

std::optional<ProgramSet> readProgram(source::FileId file,
                                      const source::SourceSet &sources,
                                      diag::Emitter &emitter) {
  if (!isReadable(file, sources, emitter))
    return std::nullopt;
  std::size_t errorsBefore = emitter.errorCount();
  ProgramSyntax syntax(file, sources, emitter);
  const P::WholeContext *whole = syntax.parse(ProgramSyntax::Head::Program);
  if (!whole)
    return std::nullopt;
  ProgramSet set = ProgramBuilder(syntax, emitter).build(*whole);
  if (emitter.errorCount() != errorsBefore)
    return std::nullopt;
  if (std::vector<std::string> broken = verify(set); !broken.empty()) {
    reportRules(broken, syntax.span(whole->name), emitter);
    return std::nullopt;
  }
  return set;
}

} // namespace planc::syntax
